"""What the peers have in common: the model of a Hugging Face config.json, the batches, and how a run is timed and told.

A peer prints one JSON object: seconds of each update, its losses, the peak of its resident memory in MiB.
"""
import argparse
import json
import os
import threading
import time

import numpy as np


def arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("config", help="Hugging Face config.json, gpt2 or llama; dropout is taken as 0")
    parser.add_argument("text", help="file whose bytes are the tokens")
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--seq-length", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32")
    return parser


def load_config(path):
    with open(path) as file:
        config = json.load(file)
    if config["model_type"] == "gpt2":
        width, heads = config["n_embd"], config["n_head"]
        return dict(kind="gpt2", layers=config["n_layer"], width=width, heads=heads, kv_heads=heads,
                    ffn=config.get("n_inner") or 4 * width, vocab=config["vocab_size"],
                    positions=config["n_positions"], eps=config["layer_norm_epsilon"], tied=True)
    heads = config["num_attention_heads"]
    return dict(kind="llama", layers=config["num_hidden_layers"], width=config["hidden_size"], heads=heads,
                kv_heads=config.get("num_key_value_heads", heads), ffn=config["intermediate_size"],
                vocab=config["vocab_size"], eps=config["rms_norm_eps"], theta=config.get("rope_theta", 1e4),
                tied=config.get("tie_word_embeddings", False))


class Batches:
    """Consecutive windows of seq_length + 1 tokens, as int64."""

    def __init__(self, args):
        self.text = np.fromfile(args.text, dtype=np.uint8)
        self.batch, self.length, self.next = args.batch, args.seq_length, 0

    def take(self):
        rows = []
        for _ in range(self.batch):
            begin = self.next * self.length % (len(self.text) - self.length - 1)
            rows.append(self.text[begin:begin + self.length + 1])
            self.next += 1
        window = np.stack(rows).astype(np.int64)
        return window[:, :-1], window[:, 1:]


class MemoryPeak:
    """Of RssAnon + RssShmem, read every 20 ms: what reciperun reports of itself."""

    def __init__(self):
        self.peak = 0
        threading.Thread(target=self.watch, daemon=True).start()

    def read(self):
        with open("/proc/self/status") as status:
            fields = dict(line.split(":", 1) for line in status)
        self.peak = max(self.peak, sum(int(fields[name].split()[0]) for name in ("RssAnon", "RssShmem")) / 1024)

    def watch(self):
        while True:
            self.read()
            time.sleep(0.02)


def train(args, update):
    """`update(tokens, labels)` makes one update and returns the loss, a float, when all of it is done."""
    memory, batches, seconds, losses = MemoryPeak(), Batches(args), [], []
    for _ in range(args.steps + 1):  # the first compiles and touches memory
        tokens, labels = batches.take()
        begin = time.perf_counter()
        losses.append(update(tokens, labels))
        seconds.append(time.perf_counter() - begin)
    memory.read()
    print(json.dumps(dict(seconds=seconds[1:], first=seconds[0], losses=losses, memory=memory.peak)))


def limit_threads(count):
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = str(count)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:count])
