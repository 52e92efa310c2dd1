#!/usr/bin/env python3
"""Compares a mean per row over a Parquet file: the binary `ragged`, DataFusion's own function, and Polars' streaming engine.

    benches/parquet_peers.py [--values N] [--mean LENGTH] [--rounds R] [--threads T] [--binary PATH] [--folder PATH] >parquet.md

Requires pyarrow and polars. Builds the binary of ragged-sql first, unless one is given. The file has rows of
`id` and a list of 32-bit floats, of 0 to 4 times the mean length (few long rows, many short ones), compressed by Zstandard in row
groups of 1,048,576 rows. Each engine reads it and writes the `id` and the mean of each row to a Parquet file, with the same
number of threads; the results are compared. Rounds alternate between the engines, each in a process of its own; a time is
the least of the rounds, from the start of the process to its end. The peak is the process's resident memory.
"""
import argparse, multiprocessing, os, pathlib, platform, resource, subprocess, sys, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parent.parent
POLARS = """
import sys, polars as pl
source, target = sys.argv[1:]
pl.scan_parquet(source).select("id", pl.col("x").list.mean().alias("m")).sink_parquet(target, engine="streaming")
"""


def write_input(path, values, mean):
    """Writes rows until they have so many values."""
    import numpy, pyarrow, pyarrow.parquet
    random = numpy.random.default_rng(7)
    offsets = numpy.concatenate([[0], numpy.cumsum(numpy.minimum(random.geometric(1 / mean, 2 * values // mean) - 1, 4 * mean))])
    rows = int(numpy.searchsorted(offsets, values))
    offsets = numpy.minimum(offsets[: rows + 1], values)
    x = random.standard_normal(values, dtype=numpy.float32)
    lists = pyarrow.LargeListArray.from_arrays(offsets, x).cast(pyarrow.list_(pyarrow.float32()))
    table = pyarrow.table({"id": numpy.arange(rows), "x": lists})
    pyarrow.parquet.write_table(table, path, compression="zstd", row_group_size=1 << 20)


def run(command, environment):
    before = time.perf_counter()
    process = subprocess.Popen(command, env={**os.environ, **environment})
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - before
    if status != 0:
        sys.exit(f"{command[0]} failed with status {status}")
    return seconds, usage.ru_maxrss / 1024


def compare(paths):
    import pyarrow.parquet, numpy
    tables = [pyarrow.parquet.read_table(path).sort_by("id") for path in paths]
    first = tables[0].column("m").to_numpy()
    for path, table in zip(paths, tables):
        means = table.column("m").to_numpy()
        close = numpy.isclose(means, first, rtol=1e-5, atol=1e-6) | (numpy.isnan(means) & numpy.isnan(first))
        if len(means) != len(first) or not close.all():
            sys.exit(f"{path.name} has other means: {(~close).sum()} of {len(first)}")
    return len(first)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--values", type=int, default=100_000_000)
    parser.add_argument("--mean", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--binary", type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.binary is None:
        build = ["cargo", "build", "--release", "--package", "ragged-sql", "--bin", "ragged"]
        subprocess.run(build, cwd=ROOT, check=True)
        arguments.binary = ROOT / "target/release/ragged"
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        folder = pathlib.Path(folder)
        source = folder / "in.parquet"
        # In a process of its own: the peak of a process is at least the memory of the one that started it.
        writer = multiprocessing.get_context("spawn").Process(target=write_input, args=(source, arguments.values, arguments.mean))
        writer.start()
        writer.join()
        if writer.exitcode != 0:
            sys.exit("the input could not be written")
        threads = ["--threads", str(arguments.threads)]

        def query(select, target):
            return [str(arguments.binary), "run", select, str(source), "-o", str(target), *threads]

        engines = {
            "ragged": lambda target: query("id, ragged_mean(x) AS m", target),
            "DataFusion": lambda target: query("id, array_avg(x) AS m", target),
            "Polars streaming": lambda target: [sys.executable, "-c", POLARS, str(source), str(target)],
        }
        environment = {"POLARS_MAX_THREADS": str(arguments.threads), "RAYON_NUM_THREADS": str(arguments.threads)}
        times = {name: [] for name in engines}
        peaks = {name: [] for name in engines}
        targets = {name: folder / f"{number}.parquet" for number, name in enumerate(engines)}
        for _ in range(arguments.rounds):
            for name, command in engines.items():
                seconds, peak = run(command(targets[name]), environment)
                times[name].append(seconds)
                peaks[name].append(peak)
                print(f"{name}: {seconds:.2f} s, {peak:.0f} MiB", file=sys.stderr)
        rows = compare(list(targets.values()))
        size, values = source.stat().st_size, arguments.values
    import polars, pyarrow
    print("# A mean per row of a Parquet file\n")
    print(f"{values:,} 32-bit floats in {rows:,} rows, {size / 1e6:.0f} MB of Parquet (Zstandard); the ids and means are written")
    print(f"as Parquet. {arguments.threads} threads, polars {polars.__version__}, pyarrow {pyarrow.__version__},")
    print(f"{platform.machine()}, load average {os.getloadavg()[0]:.1f}. Made by `benches/parquet_peers.py`.\n")
    print("| engine | seconds | million values a second | peak MiB |\n|---|---|---|---|")
    for name in engines:
        best = min(times[name])
        print(f"| {name} | {best:.2f} | {values / best / 1e6:.0f} | {min(peaks[name]):.0f} |")


if __name__ == "__main__":
    main()
