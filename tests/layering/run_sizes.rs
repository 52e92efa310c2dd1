//! Sizes of plans are asked of the run: see `src/graph/size/recorded.rs`.

use crate::source::{code, files, read, src};

/// The parts of the crate that make plans and run them. They do not import `RecordedSize`, the trait with the values of
/// recorded sizes, so that the compiler refuses to ask a size of a plan for its value without the run.
const PLANS: [&str; 10] = [
    "backend",
    "explain",
    "graph/bindings.rs",
    "graph/conditions.rs",
    "graph/cost.rs",
    "graph/plan",
    "graph/program/lift.rs",
    "graph/row_fusion",
    "graph/step.rs",
    "graph/traffic.rs",
];

/// The files among them that also read arrays of a recording, and ask the view of recorded sizes for these.
const READS: [&str; 3] = ["backend/cpu/mod.rs", "backend/gpu/backend.rs", "backend/gpu/read.rs"];

#[test]
fn plans_have_sizes_in_runs_only() {
    let mut faults = Vec::new();
    let mut seen = 0;
    for file in files(&src()) {
        let inside = file.strip_prefix(src()).expect("a file of src").to_string_lossy().replace('\\', "/");
        if !PLANS.iter().any(|of| inside == *of || inside.starts_with(&format!("{of}/"))) {
            continue;
        }
        seen += 1;
        let text = code(&read(&file));
        if text.contains("RecordedSize") {
            faults.push(format!("{inside} imports RecordedSize: ask the SizeView of the run"));
        }
        if text.contains("SizeView::RECORDED") && !READS.contains(&inside.as_str()) {
            faults.push(format!("{inside} asks for recorded sizes: ask the SizeView of the run"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(seen > 100, "only {seen} files found");
}
