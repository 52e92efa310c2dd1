#!/usr/bin/env python3
"""Compares ragged's CPU backend with NumPy, Awkward Array, Polars and TensorFlow in one run; prints Markdown.

    benches/cpu_peers.py [--values N] [--rounds R] [--peers numpy,awkward,polars,tensorflow] [--binary PATH]
                         [--text FILE...] [--row-lengths FILE...] >cpu.md

Requires NumPy; other libraries that are not installed are reported and skipped. Builds ragged-bench first. All libraries
use the same rows and alternate: a round runs an operation of each library, with a warm-up as in ragged-bench, and takes
the median of three runs; for operations of other libraries that take more than 100 ms, it takes the first run. The
fastest round counts, since other load on the machine only adds time. Missing and failed operations have no time. The
dependence of ragged's times on the distribution is measured afterwards, with alternating distributions.
"""
import argparse, importlib.metadata, json, math, os, pathlib, platform, statistics, subprocess, sys, tempfile, time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "rivals")]
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import cpu_operations
import gpu_python
from cpu_operations import once

DISTRIBUTIONS = ["uniform", "pareto", "giant", "empty"]


def numpy_ops(w):
    x, starts, ends, n = w.x, w.splits[:-1], w.splits[1:], w.n
    some = n > 0
    spread = lambda a: np.repeat(a, n)

    def reduce(how, values, empty=0.0):
        out = np.full((w.rows, *values.shape[1:]), empty, np.float32)
        out[some] = how.reduceat(values, starts[some], axis=0)
        return out

    def taken(starts, lengths):
        at = np.repeat(starts - np.cumsum(lengths) + lengths, lengths)
        return x[at + np.arange(len(at))]

    def concat():
        return taken(np.repeat(starts, 2), np.repeat(n, 2))

    def to_padded():
        out = np.zeros((w.rows, 64), np.float32)
        short = np.minimum(n, 64)
        row = np.repeat(np.arange(w.rows), short)
        column = np.arange(len(row)) - np.repeat(np.cumsum(short) - short, short)
        out[row, column] = x[starts[row] + column]
        return out

    def softmax():
        e = np.exp(x - spread(reduce(np.maximum, x)))
        return e / spread(reduce(np.add, e))

    def mask():
        keep = x > 0.5
        return x[keep], np.add.reduceat(keep, starts[some])

    few = np.minimum(n, 8)
    return {
        "sum": lambda: reduce(np.add, x),
        "max": lambda: reduce(np.maximum, x, -np.inf),
        "mean": lambda: reduce(np.add, x) / np.maximum(n, 1),
        "affine_sum": lambda: reduce(np.add, x * np.float32(2) + np.float32(1)),
        "row_add": lambda: x + spread(w.row),
        "slice_head": lambda: taken(starts, few),
        "slice_tail": lambda: taken(ends - few, few),
        "gather_rows": lambda: taken(starts[w.ids], n[w.ids]),
        "concat_axis1": concat,
        "to_padded": to_padded,
        "softmax": softmax,
        "mask_gt_half": mask,
        "sort": lambda: x[np.lexsort((x, spread(np.arange(w.rows))))],
        "embed_mean": lambda: reduce(np.add, w.table[w.tokens]) / np.maximum(n, 1)[:, None],
    }


def awkward_ops(w):
    import awkward as ak

    rows = lambda values: ak.unflatten(values, w.n)
    x, tokens = rows(w.x), rows(w.tokens)
    return {
        "sum": lambda: ak.sum(x, axis=1),
        "max": lambda: ak.max(x, axis=1),
        "mean": lambda: ak.mean(x, axis=1),
        "affine_sum": lambda: ak.sum(x * np.float32(2) + np.float32(1), axis=1),
        "row_add": lambda: x + w.row,
        "slice_head": lambda: ak.to_packed(x[:, :8]),
        "slice_tail": lambda: ak.to_packed(x[:, -8:]),
        "gather_rows": lambda: ak.to_packed(x[w.ids]),
        "concat_axis1": lambda: ak.concatenate([x, x], axis=1),
        "to_padded": lambda: ak.to_numpy(ak.fill_none(ak.pad_none(x, 64, clip=True), np.float32(0))),
        "softmax": lambda: ak.softmax(x, axis=1),
        "mask_gt_half": lambda: ak.to_packed(x[x > 0.5]),
        "sort": lambda: ak.sort(x, axis=1),
        "embed_mean": lambda: ak.mean(rows(w.table[ak.to_numpy(ak.flatten(tokens))]), axis=1),
    }


def polars_ops(w):
    import polars as pl
    import pyarrow as pa

    lists = pl.from_arrow(pa.LargeListArray.from_arrays(pa.array(w.splits), pa.array(w.x)))
    frame = pl.DataFrame({"x": lists, "row": w.row})
    x = pl.col("x")
    query = lambda e: lambda: frame.select(e)
    return {
        "sum": query(x.list.sum()),
        "max": query(x.list.max()),
        "mean": query(x.list.mean()),
        "affine_sum": query((x * 2.0 + 1.0).list.sum()),
        "row_add": query(x + pl.col("row")),
        "slice_head": query(x.list.head(8)),
        "slice_tail": query(x.list.tail(8)),
        "gather_rows": lambda: frame["x"].gather(w.ids),
        "concat_axis1": query(x.list.concat(x)),
        "sort": query(x.list.sort()),
    }


def tensorflow_ops(w):
    import tensorflow as tf

    splits = tf.constant(w.splits)
    rows = lambda values: tf.RaggedTensor.from_row_splits(tf.constant(values), splits, validate=False)
    x, tokens = rows(w.x), rows(w.tokens)
    row, ids, table = tf.constant(w.row[:, None]), tf.constant(w.ids), tf.constant(w.table)

    def softmax():
        e = tf.exp(x - tf.reduce_max(x, axis=1, keepdims=True))
        return e / tf.reduce_sum(e, axis=1, keepdims=True)

    return {
        "sum": lambda: tf.reduce_sum(x, axis=1),
        "max": lambda: tf.reduce_max(x, axis=1),
        "mean": lambda: tf.reduce_mean(x, axis=1),
        "affine_sum": lambda: tf.reduce_sum(x * 2.0 + 1.0, axis=1),
        "row_add": lambda: x + row,
        "slice_head": lambda: x[:, :8],
        "slice_tail": lambda: x[:, -8:],
        "gather_rows": lambda: tf.gather(x, ids),
        "concat_axis1": lambda: tf.concat([x, x], axis=1),
        "to_padded": lambda: x.to_tensor(shape=[None, 64]),
        "softmax": softmax,
        "mask_gt_half": lambda: tf.ragged.boolean_mask(x, x > 0.5),
        "embed_mean": lambda: tf.reduce_mean(tf.nn.embedding_lookup(table, tokens), axis=1),
    }


PEERS = {"numpy": numpy_ops, "awkward": awkward_ops, "polars": polars_ops, "tensorflow": tensorflow_ops}


def version(peer):
    for package in (peer, f"{peer}-cpu", f"{peer}_cpu"):
        try:
            return importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            pass
    return "of unknown version"


def built():
    """Builds ragged-bench and returns its path."""
    build = ["cargo", "build", "--release", "--quiet", "--bin", "ragged-bench", "--message-format", "json"]
    messages = subprocess.run(build, check=True, cwd=HERE.parent, stdout=subprocess.PIPE, text=True).stdout
    return next(m["executable"] for m in map(json.loads, messages.splitlines()) if m.get("executable"))


# Milliseconds from which on an operation is run once, without a warm-up.
LONG = 100


def warm(op):
    """Median of three runs in milliseconds, after a run and 30 ms more, as in ragged-bench; the first run if it is long."""
    first = once(op)
    if first > LONG:
        return first
    start = time.perf_counter()
    while time.perf_counter() - start < 0.03:
        op()
    return statistics.median(once(op) for _ in range(3))


def ragged(binary, dists, values, repeat):
    """Per operation and distribution: milliseconds, and the lower bound on bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "ragged.json"
        options = ["--only", "workloads", "--device", "cpu", "--values", values, "--dist", ",".join(dists)]
        command = [str(a) for a in [binary, *options, "--repeat", repeat, "--json", path]]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return {(r["op"], r["dist"]): (r["ms"], r["least_bytes"]) for r in json.loads(path.read_text())}


def measure(binary, dist, values, rounds, peers):
    """The rounds of each library and operation, in milliseconds; and the failed operations."""
    w, todo, times, failed = gpu_python.Rows(gpu_python.of_distribution(dist, values), values), {}, {}, {}
    for peer in peers:
        for name, op in PEERS[peer](w).items():
            try:
                op()
                todo[peer, name] = op
            except Exception as e:
                print(f"{dist} {name}: {peer} failed: {type(e).__name__}: {str(e)[:80]}", file=sys.stderr)
                failed.setdefault((peer, dist, type(e).__name__), []).append(name)
    for _ in range(rounds):
        for (name, _), (ms, _) in ragged(binary, [dist], values, 3).items():
            times.setdefault(("ragged", name), []).append(ms)
        for key, op in todo.items():
            times.setdefault(key, []).append(warm(op))
    return times, failed


def ragged_rounds(binary, values, rounds):
    """The rounds of each of ragged's operations and distributions, in milliseconds, and the lower bounds on bytes."""
    times, least = {}, {}
    for _ in range(rounds):
        for key, (ms, bytes) in ragged(binary, DISTRIBUTIONS, values, 15).items():
            times.setdefault(key, []).append(ms)
            least[key] = bytes
    return times, least


def geometric_mean(numbers):
    numbers = list(numbers)
    return math.exp(sum(map(math.log, numbers)) / len(numbers)) if numbers else math.nan


def table(header, rows):
    print("| " + " | ".join(header) + " |\n|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def commit():
    """The commit of this script's repository, if any. (The binary may be another one: --binary.)"""
    here = os.path.dirname(os.path.abspath(__file__))
    try:
        asked = subprocess.run(["git", "-C", here, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    except FileNotFoundError:
        return ""
    return f" at {asked.stdout.strip()}" if asked.returncode == 0 else ""


def processor():
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--values", type=int, default=1 << 22)
    p.add_argument("--rounds", type=int, default=7)
    p.add_argument("--peers", default=",".join(PEERS))
    p.add_argument("--text", nargs="*", default=[], help="text files for the operations on strings")
    p.add_argument("--row-lengths", nargs="*", default=[], help="files of row lengths for combinations")
    p.add_argument("--binary", help="path of a ragged-bench binary [default: build it]")
    a = p.parse_args()
    binary = a.binary or built()
    peers = []
    for peer in a.peers.split(","):
        try:
            importlib.import_module(peer)
            if peer == "polars":
                importlib.import_module("pyarrow")  # required for its lists
            peers.append(peer)
        except ImportError as e:
            print(f"{peer} is skipped: {e}", file=sys.stderr)

    ratios, failed = {}, {}
    loads = [os.getloadavg()[0]]
    for dist in DISTRIBUTIONS:
        times, not_done = measure(binary, dist, a.values, a.rounds, peers)
        failed.update(not_done)
        for (peer, name), ms in times.items():
            if peer != "ragged":
                ratios[name, dist, peer] = min(ms) / min(times["ragged", name])
        loads.append(os.getloadavg()[0])
    own, least = ragged_rounds(binary, a.values, a.rounds)
    loads.append(os.getloadavg()[0])
    names = list(dict.fromkeys(name for name, _ in own))

    print("# The CPU backend next to other libraries\n")
    print(f"The time of each library over ragged's: above 1, ragged is faster. {a.values:,} values, the fastest of {a.rounds}")
    print(f"alternating rounds, {os.cpu_count()} threads, {processor()}. "
          + ", ".join(f"{p} {version(p)}" for p in peers) + ".")
    print(f"Made by `benches/cpu_peers.py`{commit()}. Load average {min(loads):.1f} to {max(loads):.1f}: above the number")
    print("of threads, other processes have slowed down the libraries, most of all those that use all threads.\n")
    best = {}
    for name in names:
        for dist in DISTRIBUTIONS:
            found = {peer: ratios[name, dist, peer] for peer in peers if (name, dist, peer) in ratios}
            if found:
                fastest = min(found, key=found.get)
                best[name, dist] = (found[fastest], fastest)
    cell = lambda ratio: f"**{ratio:.2f}**" if ratio < 1 else f"{ratio:.2f}"
    print("## Fastest other library\n")
    table(
        ["", *DISTRIBUTIONS],
        [
            [name, *("{} {}".format(cell(best[name, d][0]), best[name, d][1]) if (name, d) in best else "–" for d in DISTRIBUTIONS)]
            for name in names
        ],
    )
    slower = sum(ratio < 1 for ratio, _ in best.values())
    print(f"Geometric mean {geometric_mean(r for r, _ in best.values()):.2f}; slower in {slower} of {len(best)}.\n")
    for peer in peers:
        print(f"## {peer}\n")
        rows = [[n, *(cell(ratios[n, d, peer]) if (n, d, peer) in ratios else "–" for d in DISTRIBUTIONS)] for n in names]
        table(["", *DISTRIBUTIONS], [row for row in rows if set(row[1:]) != {"–"}])
        for (_, dist, error), of in ((key, of) for key, of in failed.items() if key[0] == peer):
            print(f"Failed at {dist} rows with {error}: {', '.join(of)}.\n")
    print("## ragged by distribution\n")
    print("Milliseconds, and the skew: slowest over fastest distribution, per byte of the lower bound.")
    print(f"The fastest of {a.rounds} rounds, each of which is the median of 15 runs; in brackets, the skew of the median round.\n")
    rows = []
    for name in names:
        def spread(of_rounds):
            per_byte = [of_rounds(own[name, d]) / least[name, d] for d in DISTRIBUTIONS]
            return max(per_byte) / min(per_byte)
        cells = [f"{min(own[name, d]):.2f}" for d in DISTRIBUTIONS]
        rows.append([name, *cells, f"{spread(min):.2f} ({spread(statistics.median):.2f})"])
    table(["", *DISTRIBUTIONS, "skew"], rows)
    cpu_operations.report(binary, a.text, 12, 3, peers, a.row_lengths)


if __name__ == "__main__":
    main()
