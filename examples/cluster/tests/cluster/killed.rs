//! Executors that are killed while they compute a query.

use std::time::{Duration, Instant};

use cluster::gate::{is_reached, open};
use cluster::processes::Cluster;
use datafusion::arrow::array::RecordBatch;

use crate::setup::{Run, Setup, assert_same_bits, cluster, program, until};

/// From the kill to the result or the error.
const MOST: Duration = Duration::from_secs(30);

/// Executors wait where they read rows.
const WHILE_READING: &str = "SELECT key, count(*) AS n, max(ragged_mean(ragged_softmax(x))) AS most
    FROM (SELECT cluster_gate(key) AS key, x FROM t WHERE ragged_length(x) > 0) GROUP BY key ORDER BY key";

/// Executors wait where they have groups, whose rows both have read.
const WHILE_GROUPING: &str = "SELECT cluster_gate(key) AS key, n, s
    FROM (SELECT key, count(*) AS n, ragged_sum(array_agg(m ORDER BY id)) AS s
          FROM (SELECT id, key, ragged_sum(x) AS m FROM t) GROUP BY key) ORDER BY key";

/// Two executors of one slot.
async fn two(setup: &Setup) -> Cluster {
    let gate = setup.gate().to_str().expect("UTF-8").to_owned();
    let executor = || [setup.executor("cpu"), vec!["--gate".into(), gate.clone()]].concat();
    cluster(&["--gate", &gate], &[executor(), executor()]).await
}

/// Starts the query, which waits so many seconds for executors, and returns once both compute it.
async fn held(setup: &Setup, cluster: &Cluster, sql: &str, wait: &str) -> Run {
    let gate = setup.gate();
    let address = cluster.address.to_string();
    // As on several machines, none reads the files of another one.
    let options = ["--scheduler", &address, "--gate", gate.to_str().expect("UTF-8"), "--set", REMOTE, "--wait", wait];
    let mut run = setup.run(sql, &options);
    until("both executors compute", || {
        if let Some(error) = run.ended() {
            panic!("{sql}: {error}");
        }
        cluster.executors.iter().all(|executor| is_reached(&gate, executor.id()))
    })
    .await;
    run
}

const REMOTE: &str = "ballista.shuffle.force_remote_read=true";

/// What the query gives without a cluster.
async fn wanted(sql: &str) -> RecordBatch {
    let setup = Setup::new();
    open(&setup.gate()).expect("opens");
    setup.local(sql).await
}

async fn one_is_killed(sql: &str) {
    let want = wanted(sql).await;
    for victim in 0..2 {
        let setup = Setup::new();
        let mut cluster = two(&setup).await;
        let run = held(&setup, &cluster, sql, "5").await;
        cluster.executors[victim].kill().expect("killed");
        let killed = Instant::now();
        open(&setup.gate()).expect("opens");
        let got = run.rows_within(MOST);
        println!("the result came {:?} after the kill", killed.elapsed());
        assert_same_bits(&got, &want, sql);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_executor_is_replaced_by_the_other_one() {
    one_is_killed(WHILE_READING).await;
}

/// What it had computed for later stages is computed again.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_killed_executor_had_computed_is_computed_again() {
    one_is_killed(WHILE_GROUPING).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_without_executors_is_an_error() {
    let setup = Setup::new();
    let mut cluster = two(&setup).await;
    let run = held(&setup, &cluster, WHILE_READING, "1").await;
    for executor in &mut cluster.executors {
        executor.kill().expect("killed");
    }
    let killed = Instant::now();
    let error = run.error_within(MOST);
    println!("the error came {:?} after the kill", killed.elapsed());
    let none = format!("the scheduler at {} has 0 executors; required: 1 or more", cluster.address);
    assert!(error.contains(&format!("an executor was lost, and {none}")), "{error}");
    let next = setup.run("SELECT count(*) FROM t", &["--scheduler", &cluster.address.to_string(), "--wait", "0"]);
    let error = next.error_within(MOST);
    assert!(error.contains(&none), "{error}");
}

/// The query waits for an executor that is started after the last one was lost.
#[tokio::test(flavor = "multi_thread")]
async fn a_new_executor_continues_a_query() {
    let want = wanted(WHILE_READING).await;
    let setup = Setup::new();
    let mut cluster = two(&setup).await;
    let run = held(&setup, &cluster, WHILE_READING, "60").await;
    for executor in &mut cluster.executors {
        executor.kill().expect("killed");
    }
    open(&setup.gate()).expect("opens");
    let gate = setup.gate().to_str().expect("UTF-8").to_owned();
    let options = [setup.executor("cpu"), vec!["--gate".into(), gate]].concat();
    cluster.add(program(), &options).expect("starts");
    assert_same_bits(&run.rows_within(MOST), &want, WHILE_READING);
}
