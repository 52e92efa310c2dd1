"""Speed of tf.data on the file of examples/tfrecord.rs: python tf_data.py FILE"""
import os
import sys
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

tf.config.threading.set_intra_op_parallelism_threads(2)
tf.config.threading.set_inter_op_parallelism_threads(2)
PATH = sys.argv[1]
FEATURES = {
    "label": tf.io.FixedLenFeature([], tf.int64),
    "ids": tf.io.RaggedFeature(tf.int64),
    "weights": tf.io.RaggedFeature(tf.float32),
    "words": tf.io.RaggedFeature(tf.string),
}


def least(run):
    times = []
    for _ in range(5):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def drain(dataset):
    """Runs the dataset without a step of Python per element."""
    dataset.reduce(tf.constant(0), lambda n, _: n + 1).numpy()


records = list(tf.data.TFRecordDataset(PATH).as_numpy_iterator())
mib = sum(map(len, records)) / 2**20
print(f"tensorflow {tf.__version__}: {len(records)} records, {mib:.0f} MiB")


def report(what, seconds):
    print(f"{what:40} {seconds * 1e3:8.1f} ms  {len(records) / seconds:10.0f} records/s  {mib / seconds:7.0f} MiB/s")


report("read", least(lambda: drain(tf.data.TFRecordDataset(PATH))))
report("read, batch of 1,024", least(lambda: drain(tf.data.TFRecordDataset(PATH).batch(1024))))
parse = tf.function(lambda batch: tf.io.parse_example(batch, FEATURES), input_signature=[tf.TensorSpec([None], tf.string)])
batches = [tf.constant(records[i : i + 1024]) for i in range(0, len(records), 1024)]
parse(batches[0])
report("parse, batches of 1,024", least(lambda: [parse(b) for b in batches]))
everything = tf.constant(records)
report("parse, one batch", least(lambda: parse(everything)))
for calls in (None, 2):
    dataset = tf.data.TFRecordDataset(PATH).batch(1024)
    dataset = dataset.map(lambda b: tf.io.parse_example(b, FEATURES), num_parallel_calls=calls).prefetch(4)
    report(f"read, batch of 1,024, parse ({calls or 1} calls)", least(lambda: drain(dataset)))
