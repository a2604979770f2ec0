#!/usr/bin/env python3
"""Weights that were trained and exported here, in transformers: an independent check of names, layouts and config.

For each recipe of this folder (dropout is off in all): train, `recipeckpt export`, load the folder with
AutoModelForCausalLM, and compare
- logits with those of oracle.py's own fp64 model on the same file: at most 1e-4 apart;
- the mean loss over the held-out text with the eval_loss that reciperun printed for the same weights;
- after save_pretrained in one file, in shards, as the base model alone, and in bf16 and fp16: what init_from makes of
  them, byte for byte.

    transformers-check.py BUILD-FOLDER      run by a Python that has torch, transformers, safetensors, numpy and jax;
                                            without jax the first comparison is with transformers in fp64

Prints the lines of docs/numerics-results.md; exit code 1 if a limit is passed.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch
import transformers
from safetensors.numpy import load_file
from transformers import AutoModel, AutoModelForCausalLM

here = pathlib.Path(__file__).resolve().parent
binaries = pathlib.Path(sys.argv[1]).resolve() / "bin"
failures = []


def run(program, *arguments):
    return subprocess.run([binaries / program, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def report(model, what, value, limit):
    print(f"| {model} | {what} | {value:.2g} | {limit:.0g} |")
    if not value <= limit:
        failures.append((model, what, value))


def oracle_logits(folder, tokens):
    """fp64 logits by oracle.py, or None without jax."""
    try:
        sys.path.insert(0, str(here))
        import oracle
    except ImportError:
        return None
    config = json.loads((folder / "config.json").read_text())
    weights = {name: np.asarray(value, np.float64) for name, value in load_file(folder / "model.safetensors").items()}
    weights = {name: oracle.jnp.asarray(value) for name, value in weights.items()}
    model = {"gpt2": oracle.gpt2_logits, "llama": oracle.llama_logits}[config["model_type"]]
    return np.asarray(model(weights, config, tokens))


def check(name, work):
    recipe = here / f"{name}.recipe"
    run("recipedata", "tokenize", here / "text.txt", "-o", work / "text.tok")
    step = work / f"{name}.bin"
    run("recipec", "compile", recipe, "-o", step)
    trained, exported = work / f"{name}-run", work / f"{name}-hf"
    data = ["--set", f"data.path={work / 'text.tok'}"]
    run("reciperun", step, *data, "--set", "data.eval_fraction=0.25", "--output-dir", trained)
    run("recipeckpt", "export", trained, exported)
    model = AutoModelForCausalLM.from_pretrained(exported).eval()
    config = json.loads((exported / "config.json").read_text())

    length = int(next(line.split(":")[1] for line in recipe.read_text().splitlines() if "seq_length" in line))
    text = np.frombuffer((here / "text.txt").read_bytes(), np.uint8).astype(np.int64)
    rows = np.stack([text[i * length : (i + 1) * length] for i in range(8)])
    with torch.no_grad():
        logits = model(torch.from_numpy(rows)).logits.numpy()
        expected = oracle_logits(exported, rows)
        if expected is None:
            expected = AutoModelForCausalLM.from_pretrained(exported).double().eval()(torch.from_numpy(rows)).logits.numpy()
        report(name, "transformers fp32: logits against fp64, largest difference", np.abs(logits - expected).max(), 1e-4)
        held = text[len(text) - int(0.25 * len(text)) :]
        nats, count = 0.0, 0
        for begin in range(0, len(held) - 1, length):
            window = torch.from_numpy(held[begin : begin + length + 1])[None]
            scores = torch.log_softmax(model(window[:, :-1]).logits.double(), -1)
            nats -= scores.gather(-1, window[:, 1:, None]).sum().item()
            count += window.shape[1] - 1
    metrics = [json.loads(line) for line in (trained / "metrics.jsonl").read_text().splitlines()]
    eval_loss = [line["eval_loss"] for line in metrics if "eval_loss" in line][-1]
    report(name, "transformers fp32: eval_loss against reciperun, relative", abs(nats / count - eval_loss) / eval_loss, 1e-5)

    def back(folder):
        """The weights of a run of no updates that starts from a folder."""
        target = work / (folder.name + "-back")
        run("reciperun", step, *data, "--set", f"model.init_from={folder}", "--steps", 0, "--output-dir", target)
        return load_file(target / "model.safetensors")

    ours = load_file(exported / "model.safetensors")

    def differing(found, rounded=lambda value: value):
        assert found.keys() == ours.keys(), found.keys() ^ ours.keys()
        return sum(int((rounded(ours[key]).view(np.uint32) != found[key].view(np.uint32)).sum()) for key in ours)

    report(name, "init_from of the export: elements that differ", differing(back(exported)), 0)
    saved = work / f"{name}-saved"
    model.save_pretrained(saved)
    report(name, "init_from of save_pretrained: elements that differ", differing(back(saved)), 0)
    shards = work / f"{name}-shards"
    model.save_pretrained(shards, max_shard_size="20KB")
    assert (shards / "model.safetensors.index.json").exists()
    report(name, "init_from of shards: elements that differ", differing(back(shards)), 0)
    if config.get("tie_word_embeddings", config["model_type"] == "gpt2"):
        base = work / f"{name}-base"
        AutoModel.from_pretrained(exported).save_pretrained(base)
        report(name, "init_from of the base model: elements that differ", differing(back(base)), 0)
    for dtype in (torch.bfloat16, torch.float16):
        half = work / f"{name}-{str(dtype).split('.')[1]}"
        AutoModelForCausalLM.from_pretrained(exported, torch_dtype=dtype).save_pretrained(half)
        rounded = lambda value: torch.from_numpy(value).to(dtype).to(torch.float32).numpy()
        report(name, f"init_from of {half.name.split('-')[-1]}: elements that differ", differing(back(half), rounded), 0)


print(f"transformers {transformers.__version__}, torch {torch.__version__}")
with tempfile.TemporaryDirectory() as folder:
    for name in ("gpt2-tiny", "llama-tiny"):
        check(name, pathlib.Path(folder))
sys.exit(f"limits passed: {failures}" if failures else 0)
