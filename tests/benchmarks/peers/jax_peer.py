#!/usr/bin/env python3
"""One training run in JAX, the whole update in one jit with donated state: AdamW, clip 1.0, mean cross-entropy; bf16 casts weights and activations at each product."""
import peer_model

ARGS = peer_model.arguments(__doc__).parse_args()
peer_model.limit_threads(ARGS.threads)

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

C = peer_model.load_config(ARGS.config)
HEAD = C["width"] // C["heads"]
COMPUTE = jnp.bfloat16 if ARGS.precision == "bf16" else jnp.float32


def initial():
    rng = np.random.default_rng(1)

    def matrix(rows, columns):
        return jnp.asarray(rng.normal(0, 0.02, (rows, columns)), jnp.float32)

    width, kv, gpt2 = C["width"], C["kv_heads"] * HEAD, C["kind"] == "gpt2"
    ones, zeros = (lambda n: jnp.ones(n, jnp.float32)), (lambda n: jnp.zeros(n, jnp.float32))
    blocks = []
    for _ in range(C["layers"]):
        up = C["ffn"] if gpt2 else 2 * C["ffn"]
        block = dict(norm1=ones(width), norm2=ones(width), qkv=matrix(width, width + 2 * kv), out=matrix(width, width),
                     up=matrix(width, up), down=matrix(C["ffn"], width))
        if gpt2:
            block |= dict(norm1_bias=zeros(width), norm2_bias=zeros(width), qkv_bias=zeros(width + 2 * kv),
                          out_bias=zeros(width), up_bias=zeros(up), down_bias=zeros(width))
        blocks.append(block)
    weights = dict(tokens=matrix(C["vocab"], width), blocks=blocks, norm=ones(width))
    if gpt2:
        weights |= dict(positions=matrix(C["positions"], width), norm_bias=zeros(width))
    if not C["tied"]:
        weights["head"] = matrix(C["vocab"], width)
    return weights


def norm(x, weight, bias):
    if C["kind"] == "gpt2":
        x = x - x.mean(-1, keepdims=True)
    y = x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + C["eps"]) * weight
    return y if bias is None else y + bias


def linear(x, weight, bias=None):
    y = jnp.matmul(x.astype(COMPUTE), weight.astype(COMPUTE), preferred_element_type=jnp.float32)
    return y if bias is None else y + bias


def rope(x):
    angles = np.arange(x.shape[1])[:, None] * C["theta"] ** (-np.arange(0, HEAD, 2) / HEAD)
    cos, sin = (jnp.asarray(f(angles), jnp.float32)[None, :, None, :] for f in (np.cos, np.sin))
    a, b = jnp.split(x, 2, -1)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def block_forward(x, w):
    batch, length, width = x.shape
    kv = C["kv_heads"] * HEAD
    y = linear(norm(x, w["norm1"], w.get("norm1_bias")), w["qkv"], w.get("qkv_bias"))
    q, k, v = (part.reshape(batch, length, -1, HEAD) for part in jnp.split(y, [width, width + kv], -1))
    if C["kind"] == "llama":
        q, k = rope(q), rope(k)
    q, k, v = (part.astype(COMPUTE) for part in (q, k, v))
    y = jax.nn.dot_product_attention(q, k, v, is_causal=True)
    x = x + linear(y.reshape(batch, length, width), w["out"], w.get("out_bias"))
    y = linear(norm(x, w["norm2"], w.get("norm2_bias")), w["up"], w.get("up_bias"))
    if C["kind"] == "gpt2":
        y = jax.nn.gelu(y, approximate=True)
    else:
        gate, up = jnp.split(y, 2, -1)
        y = jax.nn.silu(gate) * up
    return x + linear(y, w["down"], w.get("down_bias"))


def mean_loss(w, tokens, labels):
    x = w["tokens"][tokens]
    if C["kind"] == "gpt2":
        x = x + w["positions"][: tokens.shape[1]]
    for block in w["blocks"]:
        x = block_forward(x, block)
    logits = linear(norm(x, w["norm"], w.get("norm_bias")), w.get("head", w["tokens"]).T)
    picked = jnp.take_along_axis(logits, labels[..., None], -1)[..., 0]
    return (jax.nn.logsumexp(logits, -1) - picked).mean()


def step(state, count, tokens, labels):
    weights, first, second = state
    loss, gradients = jax.value_and_grad(mean_loss)(weights, tokens, labels)
    total = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(gradients)))
    scale = jnp.minimum(1.0, 1.0 / (total + 1e-6))

    def adamw(p, m, v, g):
        g = g * scale
        m, v = 0.9 * m + 0.1 * g, 0.95 * v + 0.05 * g * g
        u = m / (1 - 0.9**count) / (jnp.sqrt(v / (1 - 0.95**count)) + 1e-8)
        return p - 3e-4 * (u + (0.1 * p if p.ndim == 2 else 0.0)), m, v

    updated = jax.tree.map(adamw, weights, first, second, gradients)
    pick = [jax.tree.map(lambda _, t, i=i: t[i], weights, updated) for i in range(3)]
    return tuple(pick), loss


def main():
    weights = initial()
    zeros = jax.tree.map(jnp.zeros_like, weights)
    state, count = (weights, zeros, jax.tree.map(jnp.zeros_like, weights)), 0
    jitted = jax.jit(step, donate_argnums=0)

    def update(tokens, labels):
        nonlocal state, count
        count += 1
        state, loss = jitted(state, float(count), jnp.asarray(tokens, jnp.int32), jnp.asarray(labels, jnp.int32))
        jax.block_until_ready(state)
        return float(loss)

    peer_model.train(ARGS, update)


main()
