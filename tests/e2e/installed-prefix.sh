#!/usr/bin/env bash
# The installed programs alone, from a folder that knows nothing of the source or build tree: text to trained weights.
#   installed-prefix.sh PREFIX
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: installed-prefix.sh PREFIX" >&2; exit 1; }
prefix=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "installed-prefix.sh: $*" >&2; exit 1; }
# Nothing but the prefix: no library path, no other program of ours.
unset LD_LIBRARY_PATH LD_PRELOAD
recipec=$prefix/bin/recipec reciperun=$prefix/bin/reciperun recipedata=$prefix/bin/recipedata recipeckpt=$prefix/bin/recipeckpt

"$recipec" --version | tee version
grep -Eq '^recipec [0-9]+\.[0-9]+\.[0-9]+, LLVM 22\.' version || fail "recipec --version names neither itself nor LLVM"
grep -q '^targets: cpu' version || fail "recipec --version names no targets"
"$reciperun" --version | grep -q '^reciperun ' || fail "reciperun --version does not name itself"
if ldd "$reciperun" | grep -Ei 'llvm|mlir'; then fail "reciperun links the compiler"; fi

for ((i = 0; i < 200; ++i)); do echo "line $i of a text that is long enough to train on"; done >text.txt
"$recipedata" tokenize text.txt -o text.tok
"$recipedata" verify text.tok
cat >tiny.recipe <<'RECIPE'
experiment:
  output_dir: run
model:
  type: gpt2
  config:
    model_type: gpt2
    vocab_size: 256
    n_embd: 32
    n_layer: 1
    n_head: 2
    n_positions: 32
data:
  path: text.tok
  seq_length: 32
  batch_size: 4
  eval_fraction: 0.1
optim:
  lr: 1e-3
  max_steps: 100
logging:
  log_interval: 1
RECIPE
"$recipec" check tiny.recipe >/dev/null
"$recipec" compile tiny.recipe -o step.bin
"$reciperun" step.bin --steps 2
"$reciperun" step.bin --steps 3 --resume
"$recipeckpt" verify run

[ "$(grep -c '"loss":' run/metrics.jsonl)" -eq 3 ] || fail "run/metrics.jsonl must have 3 updates: $(cat run/metrics.jsonl)"
[ "$(grep -c '"eval_loss":' run/metrics.jsonl)" -eq 2 ] || fail "run/metrics.jsonl must have an evaluation of each run"
rm -r run/checkpoints/step-0000000[23]
[ "$(find . -type f | sort | tr '\n' ' ')" = "./run/metrics.jsonl ./run/model.safetensors ./step.bin ./text.tok ./text.txt ./tiny.recipe ./version " ] ||
  fail "unexpected files: $(find . -type f | sort)"
# The weights as others read them: a header of names, then every byte that it announces.
python3 - <<'CHECK'
import json, struct
data = open("run/model.safetensors", "rb").read()
length, = struct.unpack("<Q", data[:8])
header = json.loads(data[8:8 + length])
header.pop("__metadata__")
assert header["transformer.wte.weight"]["shape"] == [256, 32], header["transformer.wte.weight"]
assert header["transformer.h.0.attn.c_attn.weight"]["shape"] == [32, 96]
assert max(t["data_offsets"][1] for t in header.values()) == len(data) - 8 - length
CHECK
# The interpreter reads the same file and says the same.
[ "$("$recipec" interpret step.bin --mode exact --steps 1 | awk '{ printf "%.4f", $4 }')" = \
  "$(sed -n '1s/.*"loss":\([0-9.]*\).*/\1/p' run/metrics.jsonl | awk '{ printf "%.4f", $1 }')" ] ||
  fail "the interpreter gives another loss than the first line of run/metrics.jsonl"
echo "installed-prefix.sh: good"
