#!/usr/bin/env python3
"""Independent fp64 implementation of training steps for GPT-2 and Llama in JAX: the oracle of tests/numerics/oracle.

Written from the published model definitions, not from this repository: activations, norms, RoPE, attention, mean token
cross-entropy, clipping and AdamW are plain JAX, gradients come from jax.grad. Inputs are a Hugging Face config.json, the initial weights
(safetensors with Hugging Face names, as `recipec interpret --dump` writes them) and the token file's bytes. Output: one safetensors file with
losses, gradient norms and, for update 0, the gradient of every Hugging Face tensor in fp64 (of the mean loss, before clipping).

make-expected runs it for the recipes of this folder. It needs jax, safetensors and numpy.
"""
import argparse
import hashlib
import json
import math

import jax
import numpy as np
from safetensors.numpy import load_file, save_file

jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp  # noqa: E402


def layer_norm(x, weight, bias, eps):
    centered = x - x.mean(-1, keepdims=True)
    return centered / jnp.sqrt((centered**2).mean(-1, keepdims=True) + eps) * weight + bias


def rms_norm(x, weight, eps):
    return x / jnp.sqrt((x**2).mean(-1, keepdims=True) + eps) * weight


def causal_attention(q, k, v):
    """q [B, H, T, E], k and v [B, K, T, E]."""
    group = q.shape[1] // k.shape[1]
    k, v = jnp.repeat(k, group, axis=1), jnp.repeat(v, group, axis=1)
    scores = jnp.einsum("bhte,bhse->bhts", q, k) / math.sqrt(q.shape[-1])
    mask = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    return jnp.einsum("bhts,bhse->bhte", jax.nn.softmax(jnp.where(mask, scores, -jnp.inf), axis=-1), v)


def split_heads(x, heads):
    b, t, c = x.shape
    return x.reshape(b, t, heads, c // heads).transpose(0, 2, 1, 3)


def merge_heads(x):
    b, h, t, e = x.shape
    return x.transpose(0, 2, 1, 3).reshape(b, t, h * e)


def gpt2_logits(w, config, tokens):
    pre = "transformer."
    eps = config["layer_norm_epsilon"]
    x = w[pre + "wte.weight"][tokens] + w[pre + "wpe.weight"][: tokens.shape[1]]
    for i in range(config["n_layer"]):
        p = f"{pre}h.{i}."
        y = layer_norm(x, w[p + "ln_1.weight"], w[p + "ln_1.bias"], eps)
        qkv = y @ w[p + "attn.c_attn.weight"] + w[p + "attn.c_attn.bias"]
        q, k, v = (split_heads(part, config["n_head"]) for part in jnp.split(qkv, 3, axis=-1))
        x = x + merge_heads(causal_attention(q, k, v)) @ w[p + "attn.c_proj.weight"] + w[p + "attn.c_proj.bias"]
        y = layer_norm(x, w[p + "ln_2.weight"], w[p + "ln_2.bias"], eps)
        y = y @ w[p + "mlp.c_fc.weight"] + w[p + "mlp.c_fc.bias"]
        y = 0.5 * y * (1 + jnp.tanh(math.sqrt(2 / math.pi) * (y + 0.044715 * y**3)))
        x = x + y @ w[p + "mlp.c_proj.weight"] + w[p + "mlp.c_proj.bias"]
    return layer_norm(x, w[pre + "ln_f.weight"], w[pre + "ln_f.bias"], eps) @ w[pre + "wte.weight"].T


def inverse_frequencies(config, head_size):
    freq = config["rope_theta"] ** (-np.arange(0, head_size, 2) / head_size)
    scaling = config.get("rope_scaling")
    if not scaling:
        return freq
    kind = scaling.get("rope_type", scaling.get("type"))
    if kind == "linear":
        return freq / scaling["factor"]
    assert kind == "llama3", kind
    wavelength = 2 * math.pi / freq
    original = scaling["original_max_position_embeddings"]
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    smooth = np.clip((original / wavelength - low) / (high - low), 0, 1)
    return freq * (smooth + (1 - smooth) / scaling["factor"])


def rope(x, freq, table_dtype):
    """x [B, H, T, E]; the tables are rounded as the implementation under test states."""
    angle = np.arange(x.shape[2])[:, None] * freq[None, :]
    cos = np.concatenate([np.cos(angle)] * 2, -1).astype(table_dtype).astype(np.float64)
    sin = np.concatenate([np.sin(angle)] * 2, -1).astype(table_dtype).astype(np.float64)
    half = x.shape[-1] // 2
    rotated = jnp.concatenate([-x[..., half:], x[..., :half]], -1)
    return x * cos + rotated * sin


def llama_logits(w, config, tokens):
    heads = config["num_attention_heads"]
    kv_heads = config.get("num_key_value_heads", heads)
    head_size = config.get("head_dim") or config["hidden_size"] // heads
    freq = inverse_frequencies(config, head_size)
    eps = config["rms_norm_eps"]

    def linear(x, name):
        y = x @ w[name + ".weight"].T
        return y + w[name + ".bias"] if name + ".bias" in w else y

    x = w["model.embed_tokens.weight"][tokens]
    for i in range(config["num_hidden_layers"]):
        p = f"model.layers.{i}."
        y = rms_norm(x, w[p + "input_layernorm.weight"], eps)
        q = rope(split_heads(linear(y, p + "self_attn.q_proj"), heads), freq, np.float32)
        k = rope(split_heads(linear(y, p + "self_attn.k_proj"), kv_heads), freq, np.float32)
        v = split_heads(linear(y, p + "self_attn.v_proj"), kv_heads)
        x = x + linear(merge_heads(causal_attention(q, k, v)), p + "self_attn.o_proj")
        y = rms_norm(x, w[p + "post_attention_layernorm.weight"], eps)
        gate = linear(y, p + "mlp.gate_proj")
        x = x + linear(gate * jax.nn.sigmoid(gate) * linear(y, p + "mlp.up_proj"), p + "mlp.down_proj")
    head = w.get("lm_head.weight", w["model.embed_tokens.weight"])
    return rms_norm(x, w["model.norm.weight"], eps) @ head.T


def learning_rate(args, step):
    """Peak at update warmup - 1, floor at update max_steps - 1 (docs/numerics.md, Schedule)."""
    floor = args.min_lr_ratio * args.lr
    if step < args.warmup_steps:
        return args.lr * (step + 1) / args.warmup_steps
    f = min(1.0, (step + 1 - args.warmup_steps) / (args.max_steps - args.warmup_steps))
    return floor + (args.lr - floor) * 0.5 * (1 + math.cos(math.pi * f))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("config")
    parser.add_argument("initial")
    parser.add_argument("text")
    parser.add_argument("out")
    parser.add_argument("--seq-length", type=int, required=True)
    parser.add_argument("--batch", type=int, required=True, help="samples per update")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--lr", type=float, required=True)
    parser.add_argument("--min-lr-ratio", type=float, default=0.1)
    parser.add_argument("--warmup-steps", type=int, required=True)
    parser.add_argument("--max-steps", type=int, required=True)
    parser.add_argument("--clip", type=float, default=1.0)
    parser.add_argument("--weight-decay", type=float, default=0.1)
    parser.add_argument("--beta1", type=float, default=0.9)
    parser.add_argument("--beta2", type=float, default=0.95)
    parser.add_argument("--eps", type=float, default=1e-8)
    args = parser.parse_args()

    config = json.load(open(args.config))
    logits = {"gpt2": gpt2_logits, "llama": llama_logits}[config["model_type"]]
    start = load_file(args.initial)
    weights = {name: jnp.asarray(value.astype(np.float64)) for name, value in start.items()}
    data = np.frombuffer(open(args.text, "rb").read(), np.uint8).astype(np.int32)
    t = args.seq_length
    windows = (len(data) - 1) // t

    def mean_loss(w, tokens, labels):
        logp = jax.nn.log_softmax(logits(w, config, tokens), axis=-1)
        return -jnp.take_along_axis(logp, labels[..., None], -1).mean()

    step_fn = jax.jit(jax.value_and_grad(mean_loss))
    m = {k: jnp.zeros_like(v) for k, v in weights.items()}
    v2 = {k: jnp.zeros_like(v) for k, v in weights.items()}
    out, losses, norms = {}, [], []
    for step in range(args.steps):
        samples = [(step * args.batch + i) % windows for i in range(args.batch)]
        tokens = np.stack([data[s * t : s * t + t] for s in samples])
        labels = np.stack([data[s * t + 1 : s * t + t + 1] for s in samples])
        loss, grads = step_fn(weights, tokens, labels)
        norm = math.sqrt(sum(float((g**2).sum()) for g in grads.values()))
        losses.append(float(loss))
        norms.append(norm)
        if step == 0:
            out.update({f"grad:{k}": np.asarray(g) for k, g in grads.items()})
        scale = min(1.0, args.clip / (norm + 1e-6)) if args.clip > 0 else 1.0
        lr = learning_rate(args, step)
        for k in weights:
            g = grads[k] * scale
            m[k] = args.beta1 * m[k] + (1 - args.beta1) * g
            v2[k] = args.beta2 * v2[k] + (1 - args.beta2) * g**2
            update = (m[k] / (1 - args.beta1 ** (step + 1))) / (jnp.sqrt(v2[k] / (1 - args.beta2 ** (step + 1))) + args.eps)
            if weights[k].ndim == 2:  # decay applies to matrices only
                update = update + args.weight_decay * weights[k]
            weights[k] = weights[k] - lr * update
        print(f"step {step}: loss {loss:.15f} grad_norm {norm:.12f} lr {lr:.9g}")
    out["loss"] = np.array(losses)
    out["grad_norm"] = np.array(norms)
    arguments = {k: v for k, v in vars(args).items() if k not in ("config", "initial", "text", "out")}
    digest = hashlib.sha256(b"".join(start[k].tobytes() for k in sorted(start))).hexdigest()
    save_file(out, args.out, metadata={"initial_sha256": digest, "arguments": json.dumps(arguments, sort_keys=True),
                                       "jax": jax.__version__})


if __name__ == "__main__":
    main()
