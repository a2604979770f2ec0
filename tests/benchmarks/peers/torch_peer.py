#!/usr/bin/env python3
"""One training run in PyTorch, eager or torch.compile: AdamW, clip 1.0, mean cross-entropy; bf16 is autocast."""
import peer_model

PARSER = peer_model.arguments(__doc__)
PARSER.add_argument("--compile", action="store_true")
ARGS = PARSER.parse_args()
peer_model.limit_threads(ARGS.threads)

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402

C = peer_model.load_config(ARGS.config)
HEAD = C["width"] // C["heads"]


class RmsNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(C["width"]))

    def forward(self, x):
        return F.rms_norm(x, (C["width"],), self.weight, C["eps"])


def norm():
    return nn.LayerNorm(C["width"], C["eps"]) if C["kind"] == "gpt2" else RmsNorm()


def rope(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1).type_as(x)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        bias, width, kv = C["kind"] == "gpt2", C["width"], C["kv_heads"] * HEAD
        self.norm1, self.norm2 = norm(), norm()
        self.qkv = nn.Linear(width, width + 2 * kv, bias)
        self.out = nn.Linear(width, width, bias)
        self.up = nn.Linear(width, C["ffn"] if bias else 2 * C["ffn"], bias)
        self.down = nn.Linear(C["ffn"], width, bias)

    def forward(self, x, cos, sin):
        batch, length, width = x.shape
        kv = C["kv_heads"]
        q, k, v = self.qkv(self.norm1(x)).split([width, kv * HEAD, kv * HEAD], -1)
        q, k, v = (part.view(batch, length, -1, HEAD).transpose(1, 2) for part in (q, k, v))
        if C["kind"] == "llama":
            q, k = rope(q, cos, sin), rope(k, cos, sin)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=kv != C["heads"])
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        y = self.up(self.norm2(x))
        if C["kind"] == "gpt2":
            y = F.gelu(y, approximate="tanh")
        else:
            gate, up = y.chunk(2, -1)
            y = F.silu(gate) * up
        return x + self.down(y)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(C["vocab"], C["width"])
        self.positions = nn.Embedding(C["positions"], C["width"]) if C["kind"] == "gpt2" else None
        self.blocks = nn.ModuleList(Block() for _ in range(C["layers"]))
        self.norm = norm()
        self.head = nn.Linear(C["width"], C["vocab"], bias=False)
        if C["tied"]:
            self.head.weight = self.tokens.weight
        for parameter in self.parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=0.02)
        if C["kind"] == "llama":
            frequencies = C["theta"] ** (-torch.arange(0, HEAD, 2).double() / HEAD)
            angles = torch.arange(ARGS.seq_length).double()[:, None] * frequencies
            self.register_buffer("cos", angles.cos().float(), persistent=False)
            self.register_buffer("sin", angles.sin().float(), persistent=False)

    def forward(self, tokens, labels):
        x = self.tokens(tokens)
        if self.positions is not None:
            x = x + self.positions.weight[: tokens.shape[1]]
        cos, sin = (self.cos, self.sin) if C["kind"] == "llama" else (None, None)
        for block in self.blocks:
            x = block(x, cos, sin)
        return F.cross_entropy(self.head(self.norm(x)).float().flatten(0, 1), labels.flatten())


def main():
    torch.set_num_threads(ARGS.threads)
    torch.manual_seed(1)
    model = Model()
    matrices = [p for p in model.parameters() if p.dim() == 2]
    vectors = [p for p in model.parameters() if p.dim() != 2]
    groups = [dict(params=matrices, weight_decay=0.1), dict(params=vectors, weight_decay=0.0)]
    optimizer = torch.optim.AdamW(groups, lr=3e-4, betas=(0.9, 0.95), eps=1e-8, fused=True)
    forward = torch.compile(model) if ARGS.compile else model

    def update(tokens, labels):
        with torch.autocast("cpu", torch.bfloat16, enabled=ARGS.precision == "bf16"):
            loss = forward(torch.from_numpy(tokens), torch.from_numpy(labels))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.item()

    peer_model.train(ARGS, update)


main()
