//! Progress.

use std::process::Command;

use crate::files::Folder;
use crate::process::{BINARY, ragged};

#[test]
fn progress_ends_with_all_rows_and_values() {
    let folder = Folder::new().with_rows(50_000);
    let values: usize = (0..50_000).map(|k| k * 7 % 12).sum();
    let ran = ragged(
        folder.path(),
        &["run", "id, ragged_sum(x) AS s", "large.parquet", "-o", "out.jsonl", "--json-progress"],
    )
    .ok();
    let last = ran.errors.lines().last().expect("a line");
    assert!(last.starts_with("{\"rows\":50000,\"total_rows\":50000,\"bytes\":"), "{last}");
    assert!(last.contains(&format!("\"values\":{values},")) && last.ends_with("\"done\":true}"), "{last}");

    let lines = std::fs::metadata(folder.path().join("out.jsonl")).expect("a file").len();
    let ran = ragged(folder.path(), &["run", "s", "out.jsonl", "-o", "again.jsonl", "--json-progress"]).ok();
    let last = ran.errors.lines().last().expect("a line");
    assert!(last.contains("\"total_rows\":null,\"bytes\":"), "{last}");
    assert!(last.contains(&format!("\"total_bytes\":{lines},")), "{last}");
    assert!(last.contains(&format!("\"bytes\":{lines},")), "{last}");
    assert_eq!(ran.errors.matches("\"done\":true").count(), 1, "{}", ran.errors);

    // Files that this program reads by itself.
    ragged(folder.path(), &["run", "*", "large.parquet", "-o", "out.arrow"]).ok();
    let ran = ragged(folder.path(), &["run", "id", "out.arrow", "-o", "again.jsonl", "--json-progress"]).ok();
    let last = ran.errors.lines().last().expect("a line");
    assert!(last.starts_with("{\"rows\":50000,\"total_rows\":50000,\"bytes\":"), "{last}");
}

#[test]
fn pipes_have_no_progress() {
    let folder = Folder::new().with_rows(1000);
    let ran = ragged(folder.path(), &["run", "id", "large.parquet", "-o", "out.jsonl"]).ok();
    assert_eq!((&*ran.errors, ran.out.len()), ("", 0));
}

/// Drivers print nothing, whether or not the variable is set that they look for.
#[test]
fn standard_error_has_no_lines_of_drivers() {
    let folder = Folder::new().with_rows(100);
    let run = |device: &str| {
        let arguments = ["run", "ragged_sum(x) AS s", "large.parquet", "-o", "out.jsonl", "--device", device];
        Command::new(BINARY)
            .current_dir(folder.path())
            .env_remove("XDG_RUNTIME_DIR")
            .args(arguments)
            .output()
            .expect("it starts")
    };
    let ran = run("cpu");
    assert_eq!((ran.status.code(), &*String::from_utf8_lossy(&ran.stderr)), (Some(0), ""));
    let ran = run("gpu");
    let errors = String::from_utf8_lossy(&ran.stderr);
    match std::env::var("RAGGED_EXPECT_NO_GPU").is_ok_and(|value| value == "1") {
        true => assert!(errors.starts_with("error: --device gpu: ") && errors.lines().count() == 1, "{errors}"),
        false => assert_eq!((ran.status.code(), &*errors), (Some(0), "")),
    }
}

/// The output is a pipe that is read slowly until the terminal shows the time that is left.
#[cfg(target_os = "linux")]
#[test]
fn terminals_show_the_rate_and_the_time_left() {
    use std::fs::File;
    use std::io::Read;
    use std::process::Stdio;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    let folder = Folder::new().with_rows(200_000);
    let out = folder.path().join("out");
    assert!(Command::new("mkfifo").arg(&out).status().expect("mkfifo").success());
    let command = format!("{BINARY} run 'id, ragged_sort(x) AS x' large.parquet --format jsonl -o out");
    let mut script = Command::new("script")
        .args(["-q", "-e", "-c", &command, "/dev/null"])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("script of util-linux");
    let terminal = Arc::new(Mutex::new(String::new()));
    let (mut from, to) = (script.stdout.take().expect("a pipe"), terminal.clone());
    let reader = std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(read @ 1..) = from.read(&mut bytes) {
            to.lock().expect("no panic").push_str(&String::from_utf8_lossy(&bytes[..read]));
        }
    });
    let has_both = |text: &str| text.split('[').any(|part| part.contains(" values/s  ") && part.contains(" left"));
    let mut pipe = File::open(&out).expect("a pipe");
    let mut bytes = vec![0; 1 << 16];
    let mut lines = 0;
    while let Ok(read @ 1..) = pipe.read(&mut bytes) {
        lines += bytes[..read].iter().filter(|byte| **byte == b'\n').count();
        if !has_both(&terminal.lock().expect("no panic")) {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    assert!(script.wait().expect("it ends").success());
    reader.join().expect("no panic");
    let terminal = terminal.lock().expect("no panic").clone();
    assert_eq!(lines, 200_000, "{terminal}");
    let shown = terminal.split('[').find(|part| has_both(part)).unwrap_or_else(|| panic!("{terminal:?}"));
    for part in ["#", " %  ", "B  "] {
        assert!(shown.contains(part), "{shown:?} lacks {part:?}");
    }
}
