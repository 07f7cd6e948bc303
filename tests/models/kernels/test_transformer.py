"""Parameters and FLOPs of a transformer: against real torch models, counted by torch."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scalelab.models.kernels import attention, conventions, kernels, transformer
from scalelab.models.kernels.transformer import Transformer
from scalelab.refusal import Refusal

torch = pytest.importorskip("torch")

GPT3 = Transformer(layers=96, hidden=12288, heads=96, vocabulary=50257)
LLAMA = Transformer(32, 4096, 32, 128256, 14336, kv_heads=8, gated=True, tied=False)
SHAPES = {
    "gpt": Transformer(layers=3, hidden=32, heads=4, vocabulary=101),
    "llama": Transformer(2, 48, 6, 70, 80, kv_heads=2, gated=True, tied=False),
    "wide heads": Transformer(2, 32, 4, 60, 40, head_size=16),
}
shapes = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)


class Layer(torch.nn.Module):
    """One block without biases or norms: matrices and attention are all that is counted."""

    def __init__(self, m, recompute):
        super().__init__()
        linear = lambda a, b: torch.nn.Linear(a, b, bias=False)  # noqa: E731
        self.m, self.recompute = m, recompute
        self.query = linear(m.hidden, m.heads * m.head_size)
        self.key = linear(m.hidden, m.kv_heads * m.head_size)
        self.value = linear(m.hidden, m.kv_heads * m.head_size)
        self.output = linear(m.heads * m.head_size, m.hidden)
        self.up, self.down = linear(m.hidden, m.feedforward), linear(m.feedforward, m.hidden)
        self.gate = linear(m.hidden, m.feedforward) if m.gated else None

    def attend(self, q, k, v):
        return torch.softmax(q @ k.transpose(-1, -2), -1) @ v

    def forward(self, x):
        batch, length, _ = x.shape
        split = lambda y: y.view(batch, length, -1, self.m.head_size).transpose(1, 2)  # noqa: E731
        groups = self.m.heads // self.m.kv_heads
        q = split(self.query(x))
        k, v = (split(f(x)).repeat_interleave(groups, 1) for f in (self.key, self.value))
        if self.recompute == "selective":
            mixed = torch.utils.checkpoint.checkpoint(self.attend, q, k, v, use_reentrant=False)
        else:
            mixed = self.attend(q, k, v)
        x = x + self.output(mixed.transpose(1, 2).reshape(batch, length, -1))
        inner = torch.nn.functional.silu(self.up(x))
        return x + self.down(inner * self.gate(x) if self.m.gated else inner)


class Model(torch.nn.Module):
    """A real model of that shape."""

    def __init__(self, m, recompute="none"):
        super().__init__()
        self.embedding = torch.nn.Embedding(m.vocabulary, m.hidden)
        self.layers = torch.nn.ModuleList(Layer(m, recompute) for _ in range(m.layers))
        self.head = torch.nn.Linear(m.hidden, m.vocabulary, bias=False)
        if m.tied:
            self.head.weight = self.embedding.weight
        self.recompute = recompute

    def forward(self, tokens):
        x = self.embedding(tokens)
        for layer in self.layers:
            if self.recompute == "full":
                x = torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False)
            else:
                x = layer(x)
        return self.head(x)


def counted(shape, sequences, context, recompute="none"):
    """FLOPs of forward and of backward that torch counts, on shapes alone: nothing is computed."""
    from torch.utils.flop_counter import FlopCounterMode

    # By default torch stops recomputing as soon as it has all it needs, one product earlier.
    whole = torch.utils.checkpoint.set_checkpoint_early_stop(False)
    with torch.device("meta"), whole:
        model, tokens = Model(shape, recompute), torch.zeros(sequences, context, dtype=torch.long)
        with FlopCounterMode(display=False) as forward:
            loss = model(tokens).sum()
        with FlopCounterMode(display=False) as backward:
            loss.backward()
    return forward.get_total_flops(), backward.get_total_flops()


@shapes
def test_a_real_model_has_as_many_parameters(shape):
    with torch.device("meta"):
        model = Model(shape)
    assert transformer.parameters(shape) == sum(p.numel() for p in model.parameters())
    assert transformer.matrix_parameters(shape) == sum(p.numel() for p in model.layers.parameters())


@shapes
@pytest.mark.parametrize("recompute", ["none", "selective", "full"])
def test_torch_counts_the_same_flops_forward_and_backward(shape, recompute):
    forward, backward = counted(shape, sequences=2, context=24, recompute=recompute)
    tokens = 2 * 24
    assert tokens * transformer.forward_flops(shape, 24) == forward
    assert tokens * transformer.backward_flops(shape, 24, recompute=recompute) == backward
    assert tokens * transformer.training_flops(shape, 24, recompute=recompute) == forward + backward


def test_torch_counts_the_same_flops_for_gpt3_itself():
    """96 layers and 174.6e9 parameters, of which only the shapes exist."""
    forward, backward = counted(GPT3, sequences=1, context=2048)
    assert 2048 * transformer.training_flops(GPT3, 2048) == forward + backward


def test_torchs_own_encoder_counts_the_same():
    """Biases cost no products, so nn.TransformerEncoder must agree too."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    layer = torch.nn.TransformerEncoderLayer(32, 4, 128, dropout=0.0, batch_first=True)
    encoder = torch.nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)
    head = torch.nn.Linear(32, 101)
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        head(encoder(torch.randn(2, 24, 32, requires_grad=True))).sum().backward()
    assert 48 * transformer.training_flops(SHAPES["gpt"], 24) == counter.get_total_flops()


@shapes
def test_a_forward_pass_is_the_sum_of_its_kernels(shape):
    m, length = shape, 24
    products = [
        (m.heads * m.head_size, m.hidden),
        *[(m.kv_heads * m.head_size, m.hidden)] * 2,
        (m.hidden, m.heads * m.head_size),
        *[(m.feedforward, m.hidden)] * (2 if m.gated else 1),
        (m.hidden, m.feedforward),
    ]
    layer = sum(kernels.gemm(length, n, k, 2).flops for n, k in products)
    head = kernels.gemm(length, m.vocabulary, m.hidden, 2).flops
    for causal in (False, True):
        scores = attention.fused(
            length, length, m.head_size, 2, m.heads, m.kv_heads, causal=causal
        ).flops
        whole = length * transformer.forward_flops(m, length, causal)
        assert whole == m.layers * (layer + scores) + head


@given(st.integers(1, 10**5))
def test_a_mask_that_is_honoured_halves_the_scores_only(context):
    full, masked = (transformer.forward_flops(GPT3, context, causal) for causal in (False, True))
    products = 2 * (transformer.matrix_parameters(GPT3) + 50257 * 12288)
    assert (full - products) / (masked - products) == pytest.approx(2 * context / (context + 1))


def test_decoding_a_text_costs_what_its_causal_prefill_costs():
    """The token at position t attends to t positions: averaged, (s + 1) / 2."""
    each = transformer.forward_flops(GPT3, np.arange(1, 2049))
    assert each.mean() == pytest.approx(
        transformer.forward_flops(GPT3, 2048, causal=True), rel=1e-12
    )


def test_full_recomputation_costs_a_third_more_and_selective_a_hundredth():
    """The output matrix is not recomputed, so a bit less than four passes for three."""
    base = transformer.training_flops(GPT3, 2048)
    full = transformer.training_flops(GPT3, 2048, recompute="full") / base
    selective = transformer.training_flops(GPT3, 2048, recompute="selective") / base
    assert 1.331 < full < 4 / 3
    assert selective == pytest.approx(1.009, abs=5e-4)


@given(
    st.integers(1, 64),
    st.integers(1, 64),
    st.integers(1, 10**5),
    st.integers(1, 4096),
    st.integers(1, 64),
)
def test_the_published_forms_are_this_count_for_the_shape_of_gpt(
    layers, heads, vocabulary, context, batch
):
    """Megatron writes it out; PaLM equals it once N includes one output matrix."""
    model = Transformer(layers, 64 * heads, heads, vocabulary)
    for recompute in ("none", "selective", "full"):
        here = batch * context * transformer.training_flops(model, context, recompute=recompute)
        there = conventions.megatron(batch, context, layers, 64 * heads, vocabulary, recompute)
        assert here == pytest.approx(there)
    n = transformer.parameters(model)
    plain = batch * context * transformer.training_flops(model, context)
    assert conventions.palm(n, batch * context, layers, heads, 64, context) == pytest.approx(plain)


def test_published_parameter_counts():
    """GPT-3: table D.1 of arXiv:2005.14165 says 174,600 million; Llama 3 8B has 8.03e9."""
    assert transformer.parameters(GPT3) == pytest.approx(174.6e9, rel=3e-4)
    assert transformer.parameters(LLAMA) == pytest.approx(8.03e9, rel=1e-4)
    assert transformer.matrix_parameters(GPT3) == 12 * 96 * 12288**2


def test_what_is_not_given_is_as_in_gpt2():
    model = Transformer(layers=12, hidden=768, heads=12, vocabulary=50257)
    assert (model.feedforward, model.kv_heads, model.head_size) == (3072, 12, 64)
    assert (model.gated, model.tied) == (False, True)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"layers": 0}, ValueError, "layers must be a whole number from 1"),
        ({"hidden": 12.5}, ValueError, "hidden must be a whole number"),
        ({"vocabulary": None}, ValueError, "vocabulary must be a whole number"),
        ({"kv_heads": float("nan")}, ValueError, "kv_heads must be a whole number"),
        ({"kv_heads": 5}, ValueError, "kv_heads must divide heads, got 5 for 96"),
        ({"heads": 7}, ValueError, "heads must divide hidden, got 7 for 12288"),
        ({"gated": 1}, Refusal, "gated must be True or False"),
    ],
)
def test_a_shape_that_cannot_be_is_refused(change, error, words):
    given = {"layers": 96, "hidden": 12288, "heads": 96, "vocabulary": 50257}
    with pytest.raises(error, match=words):
        Transformer(**given | change)


def test_only_a_transformer_is_counted():
    with pytest.raises(Refusal, match="model must be a Transformer, got 175000000000"):
        transformer.forward_flops(175 * 10**9, 2048)
