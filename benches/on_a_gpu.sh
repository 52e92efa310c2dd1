#!/usr/bin/env bash
# Tests and benchmarks of a machine's GPU: correctness, peak performance, performance of the engine, other libraries.
#
#   benches/on_a_gpu.sh                          all parts, on the first adapter
#   benches/on_a_gpu.sh --device NAME PART...    some parts (tests ceilings tune workloads rivals results) on an adapter
#
# The parts write their output to target/on_a_gpu/ and can run one at a time. The part `results` writes
# benches/results/<adapter>-<driver>.md and .json, and target/on_a_gpu/report.html. A part that fails is listed in the
# results, and the script fails at its end. Software adapters are an error unless RAGGED_ANY_ADAPTER=1, which uses small
# sizes, to test this script.
set -euo pipefail
cd "$(dirname "$0")/.."
export XDG_RUNTIME_DIR="${XDG_RUNTIME_DIR:-/tmp}"

if [[ "${1:-}" == -h || "${1:-}" == --help ]]; then
    sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
    exit
fi
device=gpu
if [[ "${1:-}" == --device ]]; then
    device="${2:?a name after --device}"
    shift 2
fi
parts=("$@")
if ((${#parts[@]} == 0)); then
    parts=(tests ceilings tune workloads rivals results)
fi
for name in "${parts[@]}"; do
    case "$name" in
        tests | ceilings | tune | workloads | rivals | results) ;;
        *)
            echo "on_a_gpu: unknown part $name; see --help" >&2
            exit 2
            ;;
    esac
done
out=target/on_a_gpu
mkdir -p "$out"

# The path of the binary, as cargo reports it.
built="$(cargo build --release --quiet --bin ragged-bench --message-format json)"
bench="$(sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' <<<"$built" | tail -n 1)"
sizes=(4194304 16777216 67108864 268435456) # 2^22 to 2^28
rival_sizes=(16777216 268435456)
sweep_size=67108864
tune_size=67108864
repeat=20
if ! probed="$("$bench" --only workloads --op sum --dist empty --values 64 --repeat 1 --device "$device")"; then
    exit 2 # ragged-bench has printed the error
fi
if grep -q 'software adapter' <<<"$probed"; then
    if [[ "${RAGGED_ANY_ADAPTER:-}" != 1 ]]; then
        echo "on_a_gpu: $device is a software adapter, whose times are not meaningful; set RAGGED_ANY_ADAPTER=1 to test this script on it" >&2
        exit 1
    fi
    sizes=(16384 65536)
    rival_sizes=(16384)
    sweep_size=16384
    tune_size=16384
    repeat=2
fi

failed=()
# part FILE COMMAND...: runs the command; prints its output and saves it to FILE.txt.
part() {
    local file="$out/$1.txt"
    shift
    echo "on_a_gpu: $*" >&2
    rm -f "$file.failed"
    if ! "$@" 2>&1 | tee "$file"; then
        failed+=("$*")
        echo "$*" >"$file.failed"
    fi
}

tests() {
    # AMD's compiler checks kernels without a card, and is no part of this machine's driver.
    export RAGGED_EXPECT_NO_RADV="${RAGGED_EXPECT_NO_RADV:-1}"
    # With the default kernels, then with all of wgpu's checks. Both compare with the CPU backend.
    part tests cargo test --release --lib --test conformance --test numerics --test rows --test fuzz --test counts --test windows \
        --test tuning --test chains --test chains_of_rows --test faults --test threads --test interop --test batches \
        --test products --test narrow --test core_limits --test segments --test reads --test pipeline_cache --test indexing \
        --test moments --test embeddings --test properties --test gradients --test recurrences --test row_updates \
        --test program --test saved -- --nocapture
    # Bits of the gradients of all operations, whose kernels a software adapter compiles for minutes.
    part tests-gradients cargo test --release --test gradients -- --ignored --nocapture
    part tests-nn cargo test --release --package ragged-nn --test nn -- --nocapture
    part tests-checked env RAGGED_CHECKED_SHADERS=1 cargo test --release --test conformance -- --nocapture
}

ceilings() {
    rm -f "$out/ceilings.json"
    part ceilings "$bench" ceilings --device "$device" --json "$out/ceilings.json"
}

tune() {
    part tune "$bench" tune --device "$device" --values "$tune_size" --repeat "$repeat"
}

workloads() {
    rm -f "$out"/workloads-*
    for values in "${sizes[@]}"; do
        part "workloads-$values" "$bench" --only workloads --device "$device" --values "$values" --repeat "$repeat" \
            --json "$out/workloads-$values.json"
    done
    # The sweep of mean row lengths and skews, for the report's heat map; and the text pipeline.
    rm -f "$out/sweep.json"
    part sweep "$bench" --only workloads --sweep --device "$device" --values "$sweep_size" --repeat 5 --json "$out/sweep.json"
    part text "$bench" --only text --device "$device"
}

rivals() {
    rm -f "$out"/rivals*
    for values in "${rival_sizes[@]}"; do
        rm -f benches/rivals/target/rivals.json
        part "rivals-$values" benches/rivals/run --values "$values" --device "$device"
        # The report shows the last size.
        if [[ -f benches/rivals/target/rivals.json ]]; then
            cp benches/rivals/target/rivals.json "$out/rivals.json"
        fi
    done
}

# field NAME: the first value of a key in ceilings.json.
field() {
    sed -n "s/^ *\"$1\": \"\(.*\)\",\$/\1/p" "$out/ceilings.json" | head -n 1
}

# blocks FILE...: prints the existing files, each as a code block.
blocks() {
    local file has_run=''
    for file in "$@"; do
        [[ -f $file ]] || continue
        has_run=1
        printf '```\n'
        # Omits lines about builds and single passed tests.
        grep -vE '^( *(Compiling|Finished|Running|Downloaded|Downloading) |test .* \.\.\. ok$)' "$file" | sed 's/\r//g' || true
        printf '```\n\n'
    done
    [[ -n $has_run ]] || printf 'Not run.\n\n'
}

results() {
    if [[ ! -f $out/ceilings.json ]]; then
        echo "on_a_gpu: the part ceilings, which names adapter and driver, has not run" >&2
        exit 1
    fi
    local name target file json tables
    name="$(printf '%s-%s' "$(field adapter)" "$(field driver)" | tr -cs 'A-Za-z0-9.\n' '-' | sed 's/-*$//')"
    target="benches/results/$name"
    mkdir -p benches/results
    {
        printf '# %s\n\n' "$(field adapter)"
        printf 'Driver %s, %s; %s; commit %s, %s.\n\n' "$(field driver)" "$(field backend)" "$(uname -sr)" \
            "$(git rev-parse --short HEAD 2>/dev/null || echo unknown)" "$(date -u +%Y-%m-%d)"
        for file in "$out"/*.failed; do
            if [[ -f $file ]]; then
                printf 'Failed: `%s`\n\n' "$(cat "$file")"
            fi
        done
        printf '## Ceilings\n\n'
        blocks "$out/ceilings.txt"
        printf '## Tuning\n\n'
        blocks "$out/tune.txt"
        printf '## Workloads\n\n'
        printf 'The column `of copy` is the share of a copy of as many values through the same API.\n\n'
        mapfile -t tables < <(find "$out" -name 'workloads-*.txt' | sort -V)
        blocks "${tables[@]+"${tables[@]}"}"
        printf '## Row lengths and skews\n\n'
        blocks "$out/sweep.txt"
        printf '## From text to embeddings\n\n'
        blocks "$out/text.txt"
        printf '## Rivals\n\n'
        mapfile -t tables < <(find "$out" -name 'rivals-*.txt' | sort -V)
        blocks "${tables[@]+"${tables[@]}"}"
        printf '## Tests\n\n'
        blocks "$out/tests.txt" "$out/tests-gradients.txt" "$out/tests-nn.txt" "$out/tests-checked.txt"
    } >"$target.md"
    {
        printf '{"ceilings":\n'
        cat "$out/ceilings.json"
        printf ',"workloads": {'
        local comma=''
        for json in $(find "$out" -name 'workloads-*.json' | sort -V); do
            printf '%s\n"%s":\n' "$comma" "$(basename "$json" .json | cut -d- -f2)"
            cat "$json"
            comma=','
        done
        printf '}'
        if [[ -s $out/rivals.json ]]; then
            printf ',"rivals":\n'
            cat "$out/rivals.json"
        fi
        printf '}\n'
    } >"$target.json"
    mapfile -t measured < <(find "$out" -name 'workloads-*.json' | sort -V)
    for json in "$out/sweep.json" "$out/rivals.json"; do
        if [[ -s $json ]]; then
            measured+=("$json")
        fi
    done
    if ((${#measured[@]})); then
        "$bench" report "${measured[@]}" -o "$out/report.html"
    fi
    echo "on_a_gpu: $target.md, $target.json" >&2
}

for name in "${parts[@]}"; do
    "$name"
done
if ((${#failed[@]})); then
    printf 'on_a_gpu: failed: %s\n' "${failed[@]}" >&2
    exit 1
fi
