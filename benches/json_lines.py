#!/usr/bin/env python3
"""Compares JSON lines into columns with Polars (read_ndjson) and Awkward Array (from_json) in one run; prints Markdown.

    benches/json_lines.py [--records N] [--rounds R] [--binary PATH] [--file PATH] >json_lines.md

Builds the example json_lines first. Every reading is a process of its own, whose peak memory is that of the whole
process, the libraries included. Libraries alternate: a round runs each once, from a file in the page cache. The fastest
round counts, since other load on the machine only adds time. The time is that of the call, without imports.
"""
import argparse, importlib.metadata, json, os, pathlib, random, subprocess, sys, tempfile

HERE = pathlib.Path(__file__).resolve().parent

READ = {
    "polars": "import polars as pl\nread = lambda: pl.read_ndjson(path)",
    "awkward": "import awkward as ak, pathlib\nread = lambda: ak.from_json(pathlib.Path(path), line_delimited=True)",
}
PROGRAM = """
import sys, time
path = sys.argv[1]
{read}
start = time.perf_counter()
table = read()
print("seconds", time.perf_counter() - start)
print("records", len(table))
"""


def record(k, rng):
    """A record with nested records, lists of strings, of floats and of records."""
    return {
        "id": k,
        "user": {"name": f"user{rng.randrange(10**6)}", "age": rng.randrange(18, 90), "verified": rng.random() < 0.5},
        "tags": [rng.choice(("red", "green", "blue", "ragged", "tensor")) for _ in range(rng.randrange(5))],
        "scores": [round(rng.gauss(0, 1), 6) for _ in range(rng.randrange(6))],
        "items": [
            {"sku": f"sku-{rng.randrange(10**5):05}", "count": rng.randrange(1, 10), "price": rng.randrange(10**5) / 100}
            for _ in range(rng.randrange(4))
        ],
    }


def generate(path, count):
    rng = random.Random(7)
    with open(path, "w") as out:
        # Every field shows its type in the first record.
        first = {"id": -1, "user": {"name": "first", "age": 40, "verified": True}, "tags": ["a"], "scores": [0.5]}
        out.write(json.dumps(first | {"items": [{"sku": "s", "count": 1, "price": 0.5}]}) + "\n")
        for k in range(count - 1):
            out.write(json.dumps(record(k, rng)) + "\n")


def run(command):
    """The seconds of the call, and the peak memory of the process in MiB."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command[0]} failed")
    values = dict(line.split(" ", 1) for line in output.splitlines() if " " in line)
    return float(values["seconds"]), usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--binary")
    parser.add_argument("--file", help="kept, and reused if it exists")
    args = parser.parse_args()
    binary = args.binary
    if not binary:
        build = ["cargo", "build", "--release", "--example", "json_lines", "--message-format=json"]
        lines = subprocess.run(build, cwd=HERE.parent, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
        binary = next(m["executable"] for m in map(json.loads, lines) if m.get("executable"))
    with tempfile.TemporaryDirectory() as folder:
        path = args.file or os.path.join(folder, "records.jsonl")
        if not os.path.exists(path):
            generate(path, args.records)
        size = os.path.getsize(path) / 2**20
        # Into the page cache.
        pathlib.Path(path).read_bytes()
        commands = {"ragged": [binary, path]}
        for name, read in READ.items():
            commands[name] = [sys.executable, "-c", PROGRAM.format(read=read), path]
        found = {name: [] for name in commands}
        load = [os.getloadavg()[0]]
        for _ in range(args.rounds):
            for name, command in commands.items():
                found[name].append(run(command))
            load.append(os.getloadavg()[0])
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in READ)
    print(f"# JSON lines into columns\n\n{args.records:,} nested records, {size:.0f} MiB, the fastest of {args.rounds} rounds,")
    print(f"{os.cpu_count()} threads, load average {min(load):.1f} to {max(load):.1f}. {versions}.\n")
    print("| | seconds | MiB/s | speed by ragged's | peak MiB |\n|---|---|---|---|---|")
    best = {name: min(seconds for seconds, _ in runs) for name, runs in found.items()}
    for name, runs in found.items():
        peak = min(peak for _, peak in runs)
        ratio = best["ragged"] / best[name]
        print(f"| {name} | {best[name]:.2f} | {size / best[name]:.0f} | {ratio:.2f} | {peak:.0f} |")


if __name__ == "__main__":
    main()
