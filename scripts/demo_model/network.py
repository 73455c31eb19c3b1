"""A llama-shaped transformer in plain torch: RMS norms, rotary positions, gated feed-forward, tied embeddings."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional


@dataclass(frozen=True)
class Shape:
    """Sizes of the network. `width` is a multiple of `heads`, and a head's width is even."""

    vocabulary: int = 1024
    context: int = 512
    width: int = 128
    layers: int = 4
    heads: int = 4
    hidden: int = 352
    rope_base: float = 10_000.0
    norm_epsilon: float = 1e-5

    @property
    def head_width(self) -> int:
        return self.width // self.heads


class Attention(nn.Module):
    """Causal self-attention. Rotates neighbouring pairs, as llama.cpp does for this architecture: no permutation."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.q, self.k, self.v, self.output = (nn.Linear(shape.width, shape.width, bias=False) for _ in range(4))

    def forward(self, x: Tensor, rotation: Tensor) -> Tensor:
        batch, length, width = x.shape
        split = (batch, length, self.shape.heads, self.shape.head_width)
        q = _rotate(self.q(x).view(split), rotation).transpose(1, 2)
        k = _rotate(self.k(x).view(split), rotation).transpose(1, 2)
        v = self.v(x).view(split).transpose(1, 2)
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        joined: Tensor = self.output(mixed.transpose(1, 2).reshape(batch, length, width))
        return joined


def _rotate(x: Tensor, rotation: Tensor) -> Tensor:
    """Turn each pair (x[2i], x[2i+1]) of a head by its position's angle."""
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * rotation[: x.shape[1], None]).flatten(-2)


class Block(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.attention_norm = nn.RMSNorm(shape.width, shape.norm_epsilon)
        self.attention = Attention(shape)
        self.ffn_norm = nn.RMSNorm(shape.width, shape.norm_epsilon)
        self.gate = nn.Linear(shape.width, shape.hidden, bias=False)
        self.up = nn.Linear(shape.width, shape.hidden, bias=False)
        self.down = nn.Linear(shape.hidden, shape.width, bias=False)

    def forward(self, x: Tensor, rotation: Tensor) -> Tensor:
        x = x + self.attention(self.attention_norm(x), rotation)
        y = self.ffn_norm(x)
        out: Tensor = x + self.down(functional.silu(self.gate(y)) * self.up(y))
        return out


class Network(nn.Module):
    """ids (batch, length) -> logits (batch, length, vocabulary)."""

    rotation: Tensor

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(shape.vocabulary, shape.width)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.output_norm = nn.RMSNorm(shape.width, shape.norm_epsilon)
        exponents = torch.arange(0, shape.head_width, 2) / shape.head_width
        angles = torch.outer(torch.arange(shape.context).float(), shape.rope_base**-exponents)
        self.register_buffer("rotation", torch.polar(torch.ones_like(angles), angles), persistent=False)
        self._initialise()

    def _initialise(self) -> None:
        for name, weight in self.named_parameters():
            if weight.dim() == 2:
                # What is added to the residual stream starts small, so that depth does not multiply its variance.
                deep = name.endswith(("output.weight", "down.weight"))
                nn.init.normal_(weight, std=0.02 / (2 * self.shape.layers) ** 0.5 if deep else 0.02)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embedding(ids)
        for block in self.blocks:
            x = block(x, self.rotation)
        return functional.linear(self.output_norm(x), self.embedding.weight)


@torch.no_grad()
def greedy(network: Network, ids: list[int], count: int, end: int) -> list[int]:
    """The `count` likeliest next tokens, one by one; stops before `end`."""
    out: list[int] = []
    while len(out) < count:
        best = int(network(torch.tensor([ids + out]))[0, -1].argmax())
        if best == end:
            break
        out.append(best)
    return out
