//! Two executors give the bits of one process.

use cluster::functions::Functions;
use cluster::query::register;
use cluster::session;
use datafusion::arrow::compute::concat_batches;
use datafusion::execution::SessionStateBuilder;
use ragged::Device;

use crate::setup::{PARTITIONS, Setup, assert_same_bits, cluster};

/// Queries whose results do not depend on the order in which rows meet: sums of floats are those of ordered lists.
fn queries(setup: &Setup) -> Vec<String> {
    let words = setup.path("words.npy");
    let deep = format!("{}x{}", "ragged_negative(".repeat(30), ")".repeat(30));
    vec![
        // each row
        "SELECT id, ragged_softmax(x) AS p, ragged_sort(x, axis => -1, descending => true) AS s, ragged_top_k_indices(x, 2) AS k
         FROM t ORDER BY id"
            .into(),
        // groups; the greatest of numbers among which is NaN, the mean of no values, depends on their order
        "SELECT key, count(*) AS n, sum(ragged_length(x)) AS values, max(ragged_mean(ragged_softmax(x))) AS most
         FROM t WHERE ragged_length(x) > 0 GROUP BY key ORDER BY key"
            .into(),
        // sums of floats, in the order of the rows
        "SELECT key, ragged_sum(array_agg(m ORDER BY id)) AS s
         FROM (SELECT id, key, ragged_sum(x) AS m FROM t) GROUP BY key ORDER BY key"
            .into(),
        // a join, strings and NULL
        "SELECT t.id, u.name, ragged_ngrams(u.tags, 2) AS grams, ragged_to_hash_bucket_fast(u.tags, 1000) AS ids,
                ragged_mean(t.x) AS m
         FROM t JOIN users u ON t.key = u.key WHERE ragged_length(t.x) > 3 ORDER BY t.id"
            .into(),
        // a table of embeddings, which each process reads
        format!(
            "SELECT key, ragged_sum(ragged_embedding_lookup('{words}', ragged_to_hash_bucket_fast(tags, 16)), 1) AS v FROM users ORDER BY key"
        ),
        // more calls than one program takes: an operation by itself, of a program
        format!("SELECT id, {deep} AS d, ragged_sort({deep}, axis => -1, descending => true) AS s FROM t ORDER BY id"),
    ]
}

/// The second executor computes on a GPU, if there is one.
fn second_device() -> &'static str {
    let has_gpu = Device::all().expect("every adapter opens").iter().any(|device| !device.is_cpu());
    let none_expected = std::env::var("RAGGED_EXPECT_NO_GPU").is_ok_and(|v| v == "1");
    assert!(has_gpu || none_expected, "no GPU adapter found");
    if has_gpu { "gpu" } else { "cpu" }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_executors_on_two_devices_give_the_bits_of_one_process() {
    let setup = Setup::new();
    let cluster = cluster(&[], &[setup.executor("cpu"), setup.executor(second_device())]).await;
    for sql in queries(&setup) {
        assert_same_bits(&setup.on(&cluster, &sql), &setup.local(&sql).await, &sql);
    }
}

/// Calls cross as they are, too: by name, with the literals of named arguments.
#[tokio::test(flavor = "multi_thread")]
async fn calls_that_are_not_rewritten_give_the_same_bits() {
    let setup = Setup::new();
    let cluster = cluster(&[], &[setup.executor("cpu"), setup.executor("cpu")]).await;
    let functions = Functions::new(&Device::cpu(), None).expect("functions");
    let state = session::state(session::configuration(PARTITIONS), &functions).expect("a state");
    let state = SessionStateBuilder::new_from_existing(state).with_optimizer_rules(Vec::new()).build();
    let session = session::remote(state, &cluster.address, &functions).await.expect("a session");
    register(&session, "t", &setup.path("t")).await.expect("a table");
    let sql = "SELECT id, ragged_sort(ragged_negative(x), axis => -1, descending => true) AS s,
                      ragged_sum(x, axis => 1, keep => true) AS k FROM t ORDER BY id";
    let frame = session.sql(sql).await.expect("a query");
    let plan = frame.clone().into_optimized_plan().expect("a plan").display_indent().to_string();
    assert!(plan.contains("ragged_sort(ragged_negative("), "{plan}");
    assert!(!plan.contains("ragged_program"), "{plan}");
    let batches = frame.collect().await.expect("rows");
    let got = concat_batches(&batches[0].schema(), &batches).expect("one batch");
    assert_same_bits(&got, &setup.local(sql).await, sql);
}
