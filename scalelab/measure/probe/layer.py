"""One layer of a language model, as it reads a prompt and as it writes a token, in plain PyTorch.

Grouped queries and a gated feed-forward part, as in Llama 3, without its rotation by position: that
costs a few small kernels more. Weights are random. What it must do and move is counted in
`scalelab.models.kernels`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class LayerShape:
    """How wide a layer is."""

    hidden: int  # numbers of a token between two layers
    inner: int  # ... and in the middle of the feed-forward part
    heads: int
    kv_heads: int  # each shared by a group of query heads
    head_size: int

    @property
    def fused(self) -> int:
        """The query, key and value of a token, which come out of one product."""
        return (self.heads + 2 * self.kv_heads) * self.head_size


# One layer of Llama 3.1 70B and of Llama 3.2 1B, by the tables of their model cards' configurations.
SHAPES = {
    "70B": LayerShape(hidden=8192, inner=28672, heads=64, kv_heads=8, head_size=128),
    "1B": LayerShape(hidden=2048, inner=8192, heads=32, kv_heads=8, head_size=64),
}


class DecoderLayer:
    """Weights of one layer, and the two things it does."""

    def __init__(self, shape: LayerShape, device: str, dtype: torch.dtype) -> None:
        import torch

        def weight(rows: int, columns: int) -> torch.Tensor:
            held = torch.randn(rows, columns, device=device, dtype=dtype)
            return held.mul_(rows**-0.5)  # what comes out is as large as what goes in

        self.shape, size = shape, shape.heads * shape.head_size
        self.query_key_value = weight(shape.hidden, shape.fused)
        self.output = weight(size, shape.hidden)
        self.gate_up = weight(shape.hidden, 2 * shape.inner)
        self.down = weight(shape.inner, shape.hidden)

    def read(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Handle all tokens of some prompts, each of which sees itself and those before it.

        `x` is sequences by tokens by hidden. Returned are as many numbers, and the keys and values of
        all tokens, sequences by key heads by tokens by the size of a head.
        """
        from torch.nn import functional

        query, key, value = self._apart(x)
        seen = functional.scaled_dot_product_attention(
            query, key, value, is_causal=True, enable_gqa=True
        )
        return self._rest(x, seen.transpose(1, 2).flatten(2)), key, value

    def write(self, x: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        """Handle one new token of each sequence, which sees all keys; its own take the last place.

        The queries of a group meet the same keys, so they go along them as so many positions do.
        """
        from torch.nn import functional

        query, key, value = self._apart(x)
        keys[:, :, -1:], values[:, :, -1:] = key, value
        group = query.view(len(x), self.shape.kv_heads, -1, self.shape.head_size)
        seen = functional.scaled_dot_product_attention(group, keys, values)
        return self._rest(x, seen.reshape(len(x), 1, -1))

    def _apart(self, x):
        """Return queries, keys and values, each sequences by heads by tokens by the size of a head."""
        from torch.nn import functional

        all_three = functional.rms_norm(x, x.shape[-1:]) @ self.query_key_value
        by_head = all_three.unflatten(-1, (-1, self.shape.head_size)).transpose(1, 2)
        groups = self.shape.kv_heads
        return by_head.split([self.shape.heads, groups, groups], dim=1)

    def _rest(self, x, seen):
        """Return what leaves the layer, given what attention saw."""
        from torch.nn import functional

        x = x + seen @ self.output
        gate, up = (functional.rms_norm(x, x.shape[-1:]) @ self.gate_up).chunk(2, dim=-1)
        return x + (functional.silu(gate) * up) @ self.down
