"""The layer that is timed computes what a layer computes, with as many operations as the book says."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from scalelab.measure.probe import layer
from scalelab.models.kernels import transformer

SHAPES = [
    layer.LayerShape(64, 96, 8, 2, 8),
    layer.LayerShape(32, 48, 4, 4, 8),
    layer.LayerShape(48, 64, 6, 1, 4),
]
# What only looks at numbers in another way.
VIEWS = ("view", "unflatten", "transpose", "split", "slice", "select", "unbind", "chunk", "reshape")


def made(shape, sequences=3, tokens=17):
    torch.manual_seed(0)
    one = layer.DecoderLayer(shape, "cpu", torch.float64)
    return one, torch.randn(sequences, tokens, shape.hidden, dtype=torch.float64)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_last_token_of_a_prompt_may_as_well_be_written(shape):
    one, x = made(shape)
    read, keys, values = one.read(x)
    before = keys.clone(), values.clone()
    for cache in before:
        cache[:, :, -1] = torch.nan  # its own keys and values are put there
    torch.testing.assert_close(one.write(x[:, -1:], *before), read[:, -1:])
    torch.testing.assert_close(before[0], keys)
    torch.testing.assert_close(before[1], values)


@pytest.mark.parametrize("shape", SHAPES)
def test_attention_is_that_of_its_definition(shape):
    """Head by head, with the scores of later tokens left out."""
    one, x = made(shape)
    query, key, value = one._apart(x)
    heads = []
    for head in range(shape.heads):
        group = head * shape.kv_heads // shape.heads
        scores = query[:, head] @ key[:, group].transpose(1, 2) / shape.head_size**0.5
        later = torch.ones(x.shape[1], x.shape[1]).triu(1).bool()
        heads.append(scores.masked_fill(later, -torch.inf).softmax(-1) @ value[:, group])
    expected = one._rest(x, torch.stack(heads, dim=2).flatten(2))
    torch.testing.assert_close(one.read(x)[0], expected)


def test_no_token_of_a_prompt_sees_a_later_one():
    one, x = made(SHAPES[0])
    other = x.clone()
    other[:, 9:] = 1.0
    assert torch.equal(one.read(x)[0][:, :9], one.read(other)[0][:, :9])


def test_a_token_is_written_by_thirteen_operations():
    """Two norms, four products, two numbers kept, attention, two sums, the gate and what it lets through."""
    calls = []

    class Seen(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            name = function.name().split("::")[1].split(".")[0].strip("_")
            if not name.startswith(VIEWS):
                calls.append(name)
            return function(*args, **(kwargs or {}))

    one, x = made(SHAPES[0], tokens=1)
    _, keys, values = one.read(x)
    with torch.inference_mode(), Seen():
        one.write(x, keys, values)
    assert len(calls) == 13, calls


@pytest.mark.parametrize(
    ("name", "layers", "tied", "billions"), [("70B", 80, False, 70.55), ("1B", 16, True, 1.24)]
)
def test_layers_of_these_shapes_make_models_of_the_size_that_is_printed(
    name, layers, tied, billions
):
    """Llama 3.1 70B and Llama 3.2 1B, with a vocabulary of 128,256."""
    shape = layer.SHAPES[name]
    sizes = (
        layers,
        shape.hidden,
        shape.heads,
        128256,
        shape.inner,
        shape.kv_heads,
        shape.head_size,
    )
    model = transformer.Transformer(*sizes, gated=True, tied=tied)
    assert transformer.parameters(model) / 1e9 == pytest.approx(billions, abs=0.005)
