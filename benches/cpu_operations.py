#!/usr/bin/env python3
"""Text, combinations, counts and matrix products: ragged's CPU backend next to Polars, TensorFlow, Awkward, SciPy, NumPy
and plain loops, in one run.

    benches/cpu_operations.py --text FILE... [--copies N] [--rounds R] [--row-lengths FILE...] [--binary PATH] >operations.md

Part of `benches/cpu_peers.py`, which calls `report`. Each library runs an operation alternately with the others; the
fastest round counts. Missing libraries and operations have no time.
"""
import argparse, importlib, importlib.util, json, math, pathlib, statistics, subprocess, sys, tempfile, time

import numpy as np

TEXT = ["split", "lower", "strip", "length", "substr", "join", "bigrams", "hash_buckets"]
BUCKETS, TAKEN, BINS = 1024, 10, 100


def lines_of(files, copies):
    """The lines of the files, as ragged-bench reads them."""
    text = b""
    for file in files:
        if text and not text.endswith(b"\n"):
            text += b"\n"
        text += pathlib.Path(file).read_bytes()
    return text.decode().removesuffix("\n").split("\n") * copies


def words_of(line):
    return [word.decode() for word in line.encode().split()]


def polars_ops(lines, words):
    import polars as pl

    text, rows = pl.DataFrame({"x": lines}), pl.DataFrame({"x": words})
    x = pl.col("x")
    query = lambda frame, e: lambda: frame.select(e)
    pair = pl.element() + " " + pl.element().shift(-1)
    return {
        "split": query(text, x.str.extract_all(r"\S+")),
        "lower": query(text, x.str.to_lowercase()),
        "strip": query(text, x.str.strip_chars()),
        "length": query(text, x.str.len_chars()),
        "substr": query(text, x.str.slice(0, TAKEN)),
        "join": query(rows, x.list.join(" ")),
        "bigrams": query(rows, x.list.eval(pair.slice(0, pl.len() - 1))),
        "hash_buckets": query(rows, x.list.explode().hash() % BUCKETS),
    }


def tensorflow_ops(lines, words):
    import tensorflow as tf

    text, rows = tf.constant(lines), tf.ragged.constant(words)
    return {
        "split": lambda: tf.strings.split(text),
        "lower": lambda: tf.strings.lower(text),
        "strip": lambda: tf.strings.strip(text),
        "length": lambda: tf.strings.length(text, unit="UTF8_CHAR"),
        "substr": lambda: tf.strings.substr(text, 0, TAKEN, unit="UTF8_CHAR"),
        "join": lambda: tf.strings.reduce_join(rows, axis=1, separator=" "),
        "bigrams": lambda: tf.strings.ngrams(rows, 2, separator=" "),
        "hash_buckets": lambda: tf.strings.to_hash_bucket_fast(rows, BUCKETS),
    }


def lengths(seed, count, least, most):
    """Pseudorandom lengths, those of ragged-bench."""
    state = np.arange(count, dtype=np.uint64) + np.uint64(seed)
    with np.errstate(over="ignore"):
        z = state + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return least + ((z ^ (z >> np.uint64(31))) % np.uint64(most - least + 1)).astype(np.int64)


def event_lengths(count):
    return lengths(0xE7E7, count, 0, 12)


def awkward_combinations(lengths):
    import awkward as ak

    rows = ak.unflatten(np.random.default_rng(0).random(int(lengths.sum()), np.float32), lengths)
    # The members stored, as ragged stores them.
    return lambda: [ak.to_packed(member) for member in ak.unzip(ak.combinations(rows, 2))]


def sparse_products(size, entries=1_000_000, columns=64):
    """Products of a sparse and a dense matrix, for each of SciPy's formats."""
    import scipy.sparse

    random = np.random.default_rng(0)
    places = np.sort(random.integers(0, size * size, entries))
    values, dense = random.random(entries, np.float32), random.random((size, columns), np.float32)
    coo = scipy.sparse.coo_array((values, (places // size, places % size)), shape=(size, size))
    csr = coo.tocsr()
    return {"scipy csr": lambda: csr @ dense, "scipy coo": lambda: coo @ dense}


def dense_products():
    """Names, and functions in NumPy, which loops over the matrices of a batch."""
    random = np.random.default_rng(0)
    large = random.random((1024, 1024), np.float32)
    wide = large.astype(np.float64)
    long = [random.random((1_000_000, 64), np.float32) for _ in range(2)]
    matrices = lambda lengths: [random.random((n, 64), np.float32) for n in lengths]
    left, right = matrices(lengths(0x9A0D, 2000, 10, 100)), matrices(lengths(0x51DE, 2000, 10, 100))
    queries, keys, values = (matrices(lengths(0xA77E, 32, 10, 500)) for _ in range(3))

    def attention(queries, keys, values):
        scores = queries @ keys.T * np.float32(1 / 8)
        shares = np.exp(scores - scores.max(1, keepdims=True))
        return (shares / shares.sum(1, keepdims=True)) @ values

    return {
        "product_f32": ("1024 x 1024 by 1024 x 1024, f32", lambda: large @ large),
        "product_f64": ("1024 x 1024 by 1024 x 1024, f64", lambda: wide @ wide),
        "product_transposed": ("1024 x 1024 by 1024 x 1024, both transposed", lambda: large.T @ large.T),
        "product_long": ("1,000,000 x 64 transposed by 1,000,000 x 64", lambda: long[0].T @ long[1]),
        "products_ragged": ("2,000 products of 10..100 x 64 x 10..100", lambda: [a @ b.T for a, b in zip(left, right)]),
        "attention": ("attention, 32 sequences of 10..500 x 64", lambda: [attention(*x) for x in zip(queries, keys, values)]),
    }


def report_products(binary, rounds):
    """Prints the rows of the dense products, which alternate with NumPy."""
    for op, (name, other) in dense_products().items():
        records, times = [], []
        for _ in range(rounds):
            records.append(ragged(binary, op, [], 15))
            times.append(warm(other))
        best = min(records, key=lambda record: record["ms"])
        print(row(name, best, {"numpy": min(times)})[1], flush=True)


def once(op):
    """Milliseconds of one run, without the release of its result."""
    start = time.perf_counter()
    result = op()
    took = (time.perf_counter() - start) * 1e3
    del result
    return took


def warm(op):
    op()
    return statistics.median(once(op) for _ in range(3))


def ragged(binary, op, options, repeat=5):
    """The record of one operation, in a process of its own, whose peak memory is that of the operation."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "operation.json"
        command = [binary, "operations", "--op", op, "--repeat", repeat, "--json", path, *options]
        subprocess.run([str(a) for a in command], check=True, stdout=subprocess.DEVNULL)
        return json.loads(path.read_text())[0]


def row(name, record, peers):
    """A line of the table: milliseconds, ratios to the others, and memory."""
    least = min(peers.values(), default=math.nan)
    ratio = least / record["ms"]
    memory = record["peak_bytes"] / (record["input_bytes"] + record["result_bytes"])
    others = ", ".join(f"{peer} {ms:.1f}" for peer, ms in peers.items()) or "–"
    shown = f"**{ratio:.2f}**" if ratio < 1 else f"{ratio:.2f}"
    cells = [name, f"{record['ms']:.1f}", others, shown, f"{memory:.2f}", str(record["dispatches"]), str(record["waits"])]
    return ratio, "| " + " | ".join(cells) + " |"


HEADER = "| operation | ragged ms | others ms | ratio | peak memory | dispatches | waits |\n|---|---|---|---|---|---|---|"


def report(binary, files, copies, rounds, peers, row_lengths):
    makers = {"polars": polars_ops, "tensorflow": tensorflow_ops}
    print("## Text, combinations, counts, matrix products\n")
    print("Milliseconds, the fastest of the rounds. The ratio is the time of the fastest other library, or of the plain loop,")
    print("over ragged's: above 1, ragged is faster. Peak memory is that of ragged's arrays over inputs plus results.\n")
    print(HEADER)
    ratios = []
    if files:
        lines = lines_of(files, copies)
        words = [words_of(line) for line in lines]
        others = {peer: makers[peer](lines, words) for peer in peers if peer in makers}
        del words
        options = [a for file in files for a in ("--input", file)] + ["--copies", copies]
        for name in TEXT:
            records, times = [], {}
            for _ in range(rounds):
                records.append(ragged(binary, name, options))
                for peer, ops in others.items():
                    times.setdefault(peer, []).append(warm(ops[name]))
            best = min(records, key=lambda record: record["ms"])
            ratio, line = row(name, best, {peer: min(ms) for peer, ms in times.items()})
            ratios.append(ratio)
            print(line, flush=True)
        del others
    rows = {"combinations(2), events of 0 to 12": (event_lengths(1_000_000), [])}
    for file in row_lengths:
        lengths = np.loadtxt(file, dtype=np.int64, ndmin=1)
        rows[f"combinations(2), {pathlib.Path(file).stem}"] = (lengths, ["--row-lengths", file])
    for name, (lengths, options) in rows.items():
        other = awkward_combinations(lengths) if "awkward" in peers else None
        records, times = [], []
        for _ in range(rounds):
            records.append(ragged(binary, "combinations", options))
            if other:
                times.append(warm(other))
        best = min(records, key=lambda record: record["ms"])
        print(row(name, best, {"awkward": min(times)} if times else {})[1], flush=True)
    for size in [10_000, 100_000]:
        others = sparse_products(size) if importlib.util.find_spec("scipy") else {}
        records, times = [], {}
        for _ in range(rounds):
            records.append(ragged(binary, "sparse_product", ["--size", size]))
            for peer, op in others.items():
                times.setdefault(peer, []).append(warm(op))
        best = min(records, key=lambda record: record["ms"])
        name = f"sparse ({size:,} rows, 1,000,000 entries) times dense, 64 columns"
        print(row(name, best, {peer: min(ms) for peer, ms in times.items()})[1], flush=True)
    report_products(binary, rounds)
    for name in ["bincount", "histogram"]:
        records = [ragged(binary, name, []) for _ in range(rounds)]
        best = min(records, key=lambda record: record["ms"])
        print(row(f"{name}, 8,000,000 in {BINS} bins", best, {"plain loop": min(r["loop_ms"] for r in records)})[1], flush=True)
    print()
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"Text: geometric mean {mean:.2f}, least {min(ratios):.2f}.\n")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--text", nargs="*", default=[])
    p.add_argument("--copies", type=int, default=12)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--row-lengths", nargs="*", default=[])
    p.add_argument("--peers", default="polars,tensorflow,awkward")
    p.add_argument("--binary", required=True, help="path of ragged-bench")
    a = p.parse_args()
    peers = []
    for peer in a.peers.split(","):
        try:
            importlib.import_module(peer)
            peers.append(peer)
        except ImportError as e:
            print(f"{peer} is skipped: {e}", file=sys.stderr)
    report(a.binary, a.text, a.copies, a.rounds, peers, a.row_lengths)


if __name__ == "__main__":
    main()
