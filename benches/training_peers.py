#!/usr/bin/env python3
"""Compares training steps of ragged-nn on the CPU with PyTorch (padded, and packed) and TensorFlow in one run.

    benches/training_peers.py --row-lengths FILE... [--json FILE] [--batches N] [--rounds R] [--longest L]
                              [--peers torch,tensorflow] [--binary PATH] >training.md

Requires PyTorch 2; TensorFlow is skipped with the reason if it cannot be imported. Builds the example `training_peers` of
ragged-nn first, unless a binary is given. A batch is 64 rows: of equal lengths (32), or drawn from the row lengths of a file
with the same seed in each run. Rows without values count one value, since packed sequences of PyTorch cannot be empty; rows
longer than L are cut. A step computes the loss of a batch, its gradient, and the next variables, and reads the loss:

    lstm            vectors of 32 floats through LSTM(64); the mean square of the last outputs; SGD
    embedding_bag   the mean of vectors of 64 floats, of 10,000 words; its mean square; Adagrad
    attention       vectors of 64 floats through self-attention of 4 heads of 16; the mean square of its results; SGD

Rounds alternate between the libraries; each takes a warm-up and three
steps of each batch in turn. A time is the median of the three, the least of the rounds, summed over the batches. Inputs are
made before the clock starts: padded and packed tensors as well.
"""
import argparse, json, os, pathlib, platform, random, statistics, subprocess, sys, time

ROOT = pathlib.Path(__file__).resolve().parent.parent
WIDTH, UNITS, WORDS, HEADS = 32, 64, 10_000, 4  # those of crates/ragged-nn/examples/training_peers.rs
ROWS, REPEATS = 64, 3
WORKS = ("lstm", "embedding_bag", "attention")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def timed(step):
    step()
    took = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        step()
        took.append(1e3 * (time.perf_counter() - started))
    return statistics.median(took)


class Ragged:
    def __init__(self, binary):
        self.process = subprocess.Popen([binary], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.columns = {work: {"ragged": lambda lengths, work=work: self.time(work, lengths)} for work in WORKS}

    def time(self, work, lengths):
        request = {"work": work, "lengths": lengths, "repeats": REPEATS + 1}
        print(json.dumps(request), file=self.process.stdin, flush=True)
        return statistics.median(json.loads(self.process.stdout.readline())["ms"][1:])


def values(count):
    return [k * 7919 % 1000 / 1000 - 0.5 for k in range(count)]


class Torch:
    def __init__(self):
        import torch
        from torch.nn.utils import rnn

        self.version = torch.__version__
        self.threads = torch.get_num_threads()
        lstm = torch.nn.LSTM(WIDTH, UNITS, batch_first=True)
        sgd = torch.optim.SGD(lstm.parameters(), lr=0.01)
        bag = torch.nn.EmbeddingBag(WORDS, UNITS, mode="mean")
        bag_adagrad = torch.optim.Adagrad(bag.parameters(), lr=0.01, initial_accumulator_value=0.1)
        sparse = torch.nn.EmbeddingBag(WORDS, UNITS, mode="mean", sparse=True)
        sparse_adagrad = torch.optim.Adagrad(sparse.parameters(), lr=0.01, initial_accumulator_value=0.1)
        heads = torch.nn.MultiheadAttention(UNITS, HEADS, batch_first=True)
        heads_sgd = torch.optim.SGD(heads.parameters(), lr=0.01)
        table = torch.nn.Embedding(WORDS + 1, UNITS, padding_idx=0)
        adagrad = torch.optim.Adagrad(table.parameters(), lr=0.01, initial_accumulator_value=0.1)

        def step(optimizer, forward):
            def run():
                optimizer.zero_grad()
                loss = forward().square().mean()
                loss.backward()
                optimizer.step()
                return loss.item()

            return timed(run)

        def rows(lengths, width=WIDTH):
            return torch.tensor(values(sum(lengths) * width)).reshape(-1, width).split(lengths)

        def words(lengths):
            return torch.arange(sum(lengths)) * 7919 % WORDS

        def lstm_padded(lengths):
            x = rnn.pad_sequence(rows(lengths), batch_first=True)
            last, all_rows = torch.tensor(lengths) - 1, torch.arange(len(lengths))
            return step(sgd, lambda: lstm(x)[0][all_rows, last])

        def lstm_packed(lengths):
            x = rnn.pack_sequence(rows(lengths), enforce_sorted=False)
            return step(sgd, lambda: lstm(x)[1][0][0])

        def bag_padded(lengths):
            ids = rnn.pad_sequence((words(lengths) + 1).split(lengths), batch_first=True)
            counts = torch.tensor(lengths)[:, None]
            return step(adagrad, lambda: table(ids).sum(1) / counts)

        def bag_packed(of, optimizer):
            def run(lengths):
                ids, n = words(lengths), torch.tensor(lengths)
                starts = n.cumsum(0) - n
                return step(optimizer, lambda: of(ids, starts))

            return run

        def attention_padded(lengths):
            x = rnn.pad_sequence(rows(lengths, UNITS), batch_first=True)
            absent = torch.arange(max(lengths)) >= torch.tensor(lengths)[:, None]
            present = ~absent
            return step(heads_sgd, lambda: heads(x, x, x, key_padding_mask=absent, need_weights=False)[0][present])

        def attention_of_rows(lengths):
            all_rows = [row[None] for row in rows(lengths, UNITS)]
            return step(heads_sgd, lambda: torch.cat([heads(x, x, x, need_weights=False)[0][0] for x in all_rows]))

        self.columns = {
            "attention": {"torch padded": attention_padded, "torch row by row": attention_of_rows},
            "lstm": {"torch padded": lstm_padded, "torch packed": lstm_packed},
            "embedding_bag": {
                "torch padded": bag_padded,
                "torch packed": bag_packed(bag, bag_adagrad),
                "torch packed, sparse gradient": bag_packed(sparse, sparse_adagrad),
            },
        }


class TensorFlow:
    def __init__(self):
        import tensorflow as tf

        self.version = tf.__version__
        self.threads = tf.config.threading.get_intra_op_parallelism_threads() or os.cpu_count()

        def step(variables, optimizer, forward):
            @tf.function(reduce_retracing=True)
            def run(*inputs):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(tf.square(forward(*inputs)))
                of = variables()
                optimizer.apply_gradients(zip(tape.gradient(loss, of), of))
                return loss

            return run

        lstm = tf.keras.layers.LSTM(UNITS)
        lstm.build((None, None, WIDTH))
        through = step(lambda: lstm.trainable_variables, tf.keras.optimizers.SGD(0.01), lambda x, mask: lstm(x, mask=mask))
        table = tf.Variable(tf.random.uniform([WORDS, UNITS], -0.05, 0.05))
        mean = lambda ids: tf.reduce_mean(tf.nn.embedding_lookup(table, ids), axis=1)
        bag = step(lambda: [table], tf.keras.optimizers.Adagrad(0.01), mean)

        heads = tf.keras.layers.MultiHeadAttention(HEADS, UNITS // HEADS)
        heads.build((None, None, UNITS), (None, None, UNITS))
        attend = lambda x, mask: tf.boolean_mask(heads(x, x, attention_mask=mask[:, None, :]), mask)
        attention = step(lambda: heads.trainable_variables, tf.keras.optimizers.SGD(0.01), attend)

        def attention_padded(lengths):
            flat = tf.reshape(tf.constant(values(sum(lengths) * UNITS)), [-1, UNITS])
            x = tf.RaggedTensor.from_row_lengths(flat, lengths).to_tensor()
            mask = tf.sequence_mask(lengths)
            return timed(lambda: attention(x, mask).numpy())

        def lstm_padded(lengths):
            flat = tf.reshape(tf.constant(values(sum(lengths) * WIDTH)), [-1, WIDTH])
            x = tf.RaggedTensor.from_row_lengths(flat, lengths).to_tensor()
            mask = tf.sequence_mask(lengths)
            return timed(lambda: through(x, mask).numpy())

        def bag_ragged(lengths):
            ids = tf.RaggedTensor.from_row_lengths(tf.range(sum(lengths)) * 7919 % WORDS, lengths)
            return timed(lambda: bag(ids).numpy())

        self.columns = {
            "lstm": {"tensorflow padded": lstm_padded},
            "embedding_bag": {"tensorflow ragged": bag_ragged},
            "attention": {"tensorflow padded": attention_padded},
        }


def built():
    command = ["cargo", "build", "--release", "--quiet", "-p", "ragged-nn", "--example", "training_peers"]
    subprocess.run(command, cwd=ROOT, check=True)
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / "release" / "examples" / "training_peers"


def batches(args):
    found = {"equal": [[32] * ROWS] * args.batches}
    for file in args.row_lengths:
        path = pathlib.Path(file)
        lengths = [min(max(int(n), 1), args.longest) for n in path.read_text().split()]
        drawn = random.Random(7)
        found[path.stem] = [drawn.sample(lengths, ROWS) for _ in range(args.batches)]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--row-lengths", nargs="*", default=[], metavar="FILE")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--batches", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--longest", type=int, default=1024)
    parser.add_argument("--peers", default="torch,tensorflow")
    parser.add_argument("--binary")
    args = parser.parse_args()

    libraries, versions = [Ragged(args.binary or built())], {}
    for name, make in {"torch": Torch, "tensorflow": TensorFlow}.items():
        if name not in args.peers.split(","):
            continue
        try:
            libraries.append(make())
            versions[name] = {"version": libraries[-1].version, "threads": libraries[-1].threads}
        except ImportError as error:
            print(f"{name} is skipped: {error}", file=sys.stderr)

    load, results = [os.getloadavg()[0]], []
    for rows, of in batches(args).items():
        for work in WORKS:
            columns = [column for library in libraries for column in library.columns[work].items()]
            least = {name: [float("inf")] * len(of) for name, _ in columns}
            for _ in range(args.rounds):
                for k, lengths in enumerate(of):
                    for name, time_of in columns:
                        least[name][k] = min(least[name][k], time_of(lengths))
            ms = {name: round(sum(all_batches), 3) for name, all_batches in least.items()}
            values_of = sum(map(sum, of))
            padded = sum(ROWS * max(lengths) for lengths in of)
            results.append({"work": work, "rows": rows, "values": values_of, "padded": padded, "ms": ms})
            print(work, rows, ms, file=sys.stderr)
    load.append(os.getloadavg()[0])

    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    facts = {
        "commit": commit, "machine": platform.machine(), "threads": os.cpu_count(), "load": load, "libraries": versions,
        "batches": args.batches, "rows": ROWS, "rounds": args.rounds, "longest": args.longest, "results": results,
    }
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(facts, indent=1) + "\n")
    print(f"""# Training steps on the CPU, next to other libraries

Milliseconds for one step on each of {args.batches} batches of {ROWS} rows; rows of 1 to {args.longest} values (empty ones have one, longer ones are cut). Padded: how
many values the padded batches have for each value. {", ".join(f"{k} {v['version']}, {v['threads']} threads" for k, v in versions.items())}; {os.cpu_count()} threads, load average {load[0]:.1f} to {load[1]:.1f}: above the number of
threads, other processes have slowed down the libraries. Made by `benches/training_peers.py` at {commit}.""")
    for work in WORKS:
        of = [result for result in results if result["work"] == work]
        names = list(of[0]["ms"])
        print(f"\n## {work}\n\n| rows | padded | " + " | ".join(names) + " |\n|---|---|" + "---|" * len(names))
        for result in of:
            times = " | ".join(f"{result['ms'][name]:.2f}" for name in names)
            print(f"| {result['rows']} | {result['padded'] / result['values']:.1f} | {times} |")


if __name__ == "__main__":
    main()
