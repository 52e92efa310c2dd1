#!/usr/bin/env python3
"""Times PyTorch and CuPy on the rows of ragged-bench and prints one measurement per line, as JSON.

    gpu_python.py [--values N] [--repeat R] [--peers torch,cupy] [--row-lengths FILE]

Requires NumPy and a CUDA device. A library that is not installed, or finds no device, is reported on standard error and
skipped; without any library the script fails. Times are medians from the call to the end of the work. The rows are those of
crates/ragged-bench/src/rows.rs.
"""
import argparse, json, pathlib, statistics, sys, time

try:
    import numpy as np
except ImportError as e:
    sys.exit(f"NumPy is needed: {e}")

U64 = np.uint64


def splitmix64(x):
    with np.errstate(over="ignore"):
        z = x + U64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> U64(30))) * U64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> U64(27))) * U64(0x94D049BB133111EB)
    return z ^ (z >> U64(31))


def hashes(seed, n):
    return splitmix64(np.arange(n, dtype=U64) + U64(seed))


def flat_values(n):
    return (hashes(0xDA7A, n) >> U64(40)).astype(np.float32) / np.float32(1 << 24)


def cut(lengths, target):
    """The shortest prefix of the lengths with at least the target sum, the last one truncated; None if there is none."""
    ends = np.cumsum(lengths)
    if len(ends) == 0 or ends[-1] < target:
        return None
    k = int(np.searchsorted(ends, target)) + 1
    out = lengths[:k].copy()
    out[-1] -= ends[k - 1] - target
    return out


def of_distribution(dist, values):
    target = values // 2 if dist == "giant" else values
    count, out = max(64, values // 4), None
    while out is None:
        h = hashes(0x5EED, count)
        if dist == "uniform":
            n = h % U64(32)
        elif dist == "pareto":
            n = np.minimum(4096, np.floor(4.0 / (((h >> U64(11)).astype(np.float64) + 1.0) / 2.0**53)))
        elif dist == "giant":
            n = h % U64(16)
        else:
            n = np.where(h % U64(16) == 0, (h >> U64(8)) % U64(256), U64(0))
        out, count = cut(n.astype(np.int64), target), count * 2
    if dist == "giant":
        out[len(out) // 2] += values - target
    return out


def of_file(path, values):
    n = np.loadtxt(path, dtype=np.int64, ndmin=1)
    if n.sum() < 1 or n.min() < 0:
        sys.exit(f"--row-lengths {path}: row lengths, one a line, at least one of which is above 0")
    for k in range(len(n) - 1, 0, -1):
        other = int(splitmix64(np.array([0x5EED + k], dtype=U64))[0]) % (k + 1)
        n[k], n[other] = n[other], n[k]
    return cut(np.tile(n, values // int(n.sum()) + 1), values)


class Rows:
    def __init__(self, n, values):
        self.n, self.rows = n, len(n)
        self.splits = np.concatenate([[0], np.cumsum(n)]).astype(np.int64)
        self.x = flat_values(values)
        self.row = flat_values(self.rows)
        self.ids = (hashes(0x1D5, self.rows) % U64(self.rows)).astype(np.int64)
        self.tokens = (self.x * 1024).astype(np.int32)
        self.table = (flat_values(1024 * 16) - np.float32(0.5)).reshape(1024, 16)


def torch_ops(w, flat):
    import torch

    if not torch.cuda.is_available():
        raise ImportError("torch sees no CUDA device")
    to = lambda a: torch.from_numpy(a).cuda()
    x, s, row, ids, table = to(w.x), to(w.splits), to(w.row), to(w.ids), to(w.table)
    tokens, n = to(w.tokens).long(), s[1:] - s[:-1]
    reduce = lambda v, how: torch.segment_reduce(v, how, offsets=s, axis=0)
    spread = lambda v: torch.repeat_interleave(v, n)

    def taken(starts, lengths):
        ends = torch.cumsum(lengths, 0)
        at = torch.repeat_interleave(starts - ends + lengths, lengths)
        return x[at + torch.arange(at.numel(), device="cuda")]

    def to_padded():
        column = torch.arange(64, device="cuda")
        inside = column < n[:, None]
        return torch.where(inside, x[torch.where(inside, s[:-1, None] + column, 0)], 0.0)

    def softmax():
        e = torch.exp(x - spread(reduce(x, "max")))
        return e / spread(reduce(e, "sum"))

    def sort():
        rows = torch.repeat_interleave(torch.arange(w.rows, device="cuda"), n)
        by_value = torch.argsort(x, stable=True)
        return x[by_value[torch.argsort(rows[by_value], stable=True)]]

    def mask():
        keep = x > 0.5
        return x[keep], reduce(keep.float(), "sum")

    def concat():
        twice = torch.repeat_interleave(s[:-1], 2), torch.repeat_interleave(n, 2)
        return taken(*twice)

    head = torch.clamp(n, max=8)
    words = to(w.tokens)
    of_rows = {
        "sum": lambda: reduce(x, "sum"),
        "max": lambda: reduce(x, "max"),
        "mean": lambda: reduce(x, "mean"),
        "affine_sum": lambda: reduce(x * 2 + 1, "sum"),
        "row_add": lambda: x + spread(row),
        "slice_head": lambda: taken(s[:-1], head),
        "slice_tail": lambda: taken(s[1:] - head, head),
        "gather_rows": lambda: taken(s[:-1][ids], n[ids]),
        "concat_axis1": concat,
        "to_padded": to_padded,
        "softmax": softmax,
        "mask_gt_half": mask,
        "sort": sort,
        "embed_mean": lambda: torch.nn.functional.embedding_bag(
            tokens, table, offsets=s, mode="mean", include_last_offset=True
        ),
    }
    of_flat = {
        "flat_sum": lambda: words.sum(),
        "flat_scan": lambda: torch.cumsum(words, 0),
        "flat_select": lambda: words[words > 511],
        "flat_sort": lambda: torch.sort(words).values,
        "copy": lambda: x.clone(),
    }
    return of_flat if flat else of_rows, torch.cuda.synchronize, torch.cuda.get_device_name()


ROW_SUM = r"""
extern "C" __global__ void row_sum(const float* x, const long long* splits, float* out, int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0;
    for (long long j = splits[row] + lane; j < splits[row + 1]; j += 32) sum += x[j];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (lane == 0) out[row] = sum;
}
"""


def cupy_ops(w, flat):
    import cupy as cp

    name = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
    x, s, row, words = cp.asarray(w.x), cp.asarray(w.splits), cp.asarray(w.row), cp.asarray(w.tokens)
    kernel, blocks = cp.RawKernel(ROW_SUM, "row_sum"), (w.rows * 32 + 255) // 256
    row_ids = lambda: cp.searchsorted(s[1:], cp.arange(len(x)), side="right")

    def row_sum(values):
        out = cp.empty(w.rows, cp.float32)
        kernel((blocks,), (256,), (values, s, out, np.int32(w.rows)))
        return out

    def sort():
        # One 64-bit key: the row, then the bits of the value, whose order is that of non-negative floats.
        keys = row_ids().astype(cp.uint64) << cp.uint64(32) | x.view(cp.uint32).astype(cp.uint64)
        return cp.sort(keys).astype(cp.uint32).view(cp.float32)

    of_rows = {
        # A custom kernel with a warp per row: the library has no segment reduction.
        "sum": lambda: row_sum(x),
        "mean": lambda: row_sum(x) / (s[1:] - s[:-1]),
        "affine_sum": lambda: row_sum(x * cp.float32(2) + cp.float32(1)),
        "row_add": lambda: x + row[row_ids()],
        "sort": sort,
    }
    of_flat = {
        "flat_sum": lambda: words.sum(),
        "flat_scan": lambda: cp.cumsum(words),
        "flat_select": lambda: words[words > 511],
        "flat_sort": lambda: cp.sort(words),
        "copy": lambda: x.copy(),
    }
    return of_flat if flat else of_rows, cp.cuda.Device().synchronize, name


PEERS = {"torch": torch_ops, "cupy": cupy_ops}


def usable(peers):
    """The libraries that are installed and find a device; reports the others."""
    tiny, out = Rows(np.array([2, 0, 1]), 3), []
    for peer in peers:
        try:
            PEERS[peer](tiny, flat=False)
            out.append(peer)
        except Exception as e:  # each library has its own for a missing device
            print(f"{peer} is left out: {type(e).__name__}: {e}", file=sys.stderr)
    return out


def measure(args, peers, dist, lengths):
    w = Rows(lengths, args.values)
    for peer in peers:
        try:
            ops, wait, device = PEERS[peer](w, flat=dist == "flat")
        except Exception as e:  # such as too little memory for the rows
            print(f"{peer} {dist}: {type(e).__name__}: {e}", file=sys.stderr)
            continue
        for op, run in ops.items():
            times = []
            try:
                for k in range(args.repeat + 1):
                    start = time.perf_counter()
                    result = run()
                    wait()
                    # The first run compiles.
                    if k > 0:
                        times.append((time.perf_counter() - start) * 1e3)
                    del result
            except Exception as e:
                print(f"{peer} {dist} {op}: {type(e).__name__}: {e}", file=sys.stderr)
                continue
            rows = 1 if dist == "flat" else w.rows
            ms = statistics.median(times)
            print(json.dumps(dict(peer=peer, device=device, dist=dist, op=op, values=args.values, rows=rows, ms=ms)), flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--values", type=int, default=1 << 22)
    p.add_argument("--repeat", type=int, default=7)
    p.add_argument("--peers", default=",".join(PEERS))
    p.add_argument("--row-lengths", action="append", default=[], metavar="FILE")
    args = p.parse_args()
    asked = args.peers.split(",")
    unknown = set(asked) - set(PEERS)
    if unknown:
        p.error(f"--peers: {', '.join(sorted(unknown))} not among {', '.join(PEERS)}")
    peers = usable(asked)
    if not peers:
        sys.exit(f"nothing to time: none of {', '.join(asked)} can be used")
    for dist in [] if args.row_lengths else ["uniform", "pareto", "giant", "empty"]:
        measure(args, peers, dist, of_distribution(dist, args.values))
    for path in args.row_lengths:
        measure(args, peers, pathlib.Path(path).stem, of_file(path, args.values))
    measure(args, peers, "flat", np.array([args.values]))


if __name__ == "__main__":
    main()
