"""Bytes of model states, caches and activations, against arrays that are really allocated."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scalelab.models.machines import hardware, memory

BILLIONS = st.floats(1e6, 1e13)
DEVICES = st.integers(1, 10**5)
STAGES = st.integers(0, 3)
OPTIMIZERS = st.sampled_from([*memory.OPTIMIZERS])
PRECISIONS = st.sampled_from([*memory.PRECISIONS])


def test_the_example_of_the_zero_paper():
    """Figure 1 of Rajbhandari et al. 2020: 7.5 billion parameters, 64 devices, in GB."""
    published = [120, 31.4, 16.6, 1.9]
    ours = [memory.training_bytes(7.5e9, 64, stage=stage) / 1e9 for stage in range(4)]
    assert ours == pytest.approx(published, abs=0.05)


@pytest.mark.parametrize("d", [1, 2, 8, 64])
def test_the_table_of_megatrons_distributed_optimizer(d):
    """Its README: 18 bytes become 6 + 12/d, and in fp32 16 become 8 + 8/d."""
    for precision, whole, kept, split in (("mixed, fp32 gradients", 18, 6, 12), ("fp32", 16, 8, 8)):
        assert memory.training_bytes(1, d, precision=precision) == whole
        sharded = memory.training_bytes(1, d, precision=precision, stage=1)
        assert sharded == pytest.approx(kept + split / d)


@pytest.mark.parametrize(
    ("optimizer", "precision", "expected"),
    [
        ("adam", "mixed", 16),
        ("adam", "fp32", 16),
        ("adam 8-bit", "mixed", 10),
        ("adam 8-bit", "fp32", 10),
        ("momentum", "fp32", 12),
        ("sgd", "fp32", 8),
        ("sgd", "mixed", 8),
    ],
)
def test_bytes_per_parameter_of_the_usual_recipes(optimizer, precision, expected):
    assert sum(memory.state(optimizer, precision)) == expected


def arrays_of_one_rank(parameters, devices, optimizer, precision, stage):
    """What a rank allocates: whole arrays, or its shard of them."""
    half, single, byte = np.float16, np.float32, np.int8
    weights = single if precision == "fp32" else half
    gradients = single if precision.startswith(("fp32", "mixed,")) else half
    master = [] if precision == "fp32" else [single]
    moments = {"sgd": [], "momentum": [single], "adam": [single] * 2, "adam 8-bit": [byte] * 2}
    shard = parameters // devices
    return [
        np.empty(shard if stage >= 3 else parameters, weights),
        np.empty(shard if stage >= 2 else parameters, gradients),
        *(np.empty(shard if stage >= 1 else parameters, t) for t in master + moments[optimizer]),
    ]


@given(st.integers(1, 64), st.tuples(OPTIMIZERS, PRECISIONS, STAGES))
def test_training_bytes_are_those_of_arrays_that_are_allocated(devices, recipe):
    parameters = 12 * devices
    allocated = sum(a.nbytes for a in arrays_of_one_rank(parameters, devices, *recipe))
    assert memory.training_bytes(parameters, devices, *recipe) == pytest.approx(allocated)


@given(st.integers(1, 64), st.tuples(OPTIMIZERS, PRECISIONS, STAGES))
def test_each_state_is_that_of_its_arrays(devices, recipe):
    parameters = 12 * devices
    weights, gradients, *kept = (a.nbytes for a in arrays_of_one_rank(parameters, devices, *recipe))
    expected = {"weights": weights, "gradients": gradients, "optimizer": sum(kept)}
    assert memory.states(parameters, devices, *recipe) == pytest.approx(expected)


@given(BILLIONS, DEVICES, OPTIMIZERS, PRECISIONS)
def test_each_stage_and_each_device_only_saves(parameters, devices, optimizer, precision):
    per_stage = [
        memory.training_bytes(parameters, devices, optimizer, precision, stage)
        for stage in range(4)
    ]
    assert (np.diff(per_stage) <= 1e-9 * per_stage[0]).all()
    assert memory.training_bytes(parameters, 1, optimizer, precision, 3) == per_stage[0]
    assert per_stage[3] == pytest.approx(per_stage[0] / devices)


@given(OPTIMIZERS, PRECISIONS, STAGES)
def test_with_endless_devices_only_the_kept_part_remains(optimizer, precision, stage):
    kept, split = memory.state(optimizer, precision, stage)
    endless = memory.training_bytes(1, 1e15, optimizer, precision, stage)
    assert endless == pytest.approx(kept, abs=1e-12)
    assert kept + split == sum(memory.state(optimizer, precision))


def test_the_cache_of_a_published_example():
    """Kwon et al. 2023, section 3: OPT-13B needs 800 KB per token and 1.6 GB for 2048 of them."""
    assert memory.cache_bytes(1, layers=40, kv_heads=40, head_size=128) == 800 * 1024
    assert memory.cache_bytes(2048, 40, 40, 128) / 2**30 == pytest.approx(1.6, abs=0.05)


def test_grouped_queries_shrink_the_cache_by_the_size_of_the_group():
    """Llama 2 70B: 80 layers, 64 query heads in groups of eight."""
    grouped = memory.cache_bytes(1, layers=80, kv_heads=8, head_size=128)
    assert grouped == 320 * 1024
    assert memory.cache_bytes(1, 80, 64, 128) == 8 * grouped


@given(st.integers(0, 40), st.integers(1, 5), st.integers(1, 5), st.integers(1, 9))
def test_the_cache_is_that_of_arrays_that_are_allocated(tokens, layers, heads, size):
    keys = values = np.empty((layers, tokens, heads, size), np.float16)
    allocated = keys.nbytes + values.nbytes
    assert memory.cache_bytes(tokens, layers, heads, size) == allocated


def saved_for_backward(batch, sequence, hidden, heads):
    """Bytes that torch keeps for the backward pass of one GPT layer in bf16, weights left out."""
    import torch
    from torch.nn import functional as F

    def weight(*shape):
        return (torch.randn(*shape) * 0.02).bfloat16().requires_grad_()

    def dropout(x):
        return torch.native_dropout(x, 0.1, True)[0]  # keeps a mask of one byte, as on a GPU

    b, s, h, a = batch, sequence, hidden, heads
    weights = [weight(3 * h, h), weight(h, h), weight(4 * h, h), weight(h, 4 * h)]
    scales = [torch.ones(h, dtype=torch.bfloat16, requires_grad=True) for _ in range(2)]
    ours = {w.untyped_storage().data_ptr() for w in weights + scales}
    kept = {}

    def keep(tensor):
        if tensor.untyped_storage().data_ptr() not in ours:
            kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage()
        return tensor

    x = torch.randn(b, s, h).bfloat16().requires_grad_()
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        qkv = F.linear(F.layer_norm(x, (h,), scales[0]), weights[0])
        q, k, v = (t.view(b, s, a, h // a).transpose(1, 2) for t in qkv.chunk(3, dim=-1))
        scores = q @ k.transpose(-1, -2) * (h // a) ** -0.5
        mixed = dropout(scores.softmax(-1)) @ v
        x = x + dropout(F.linear(mixed.transpose(1, 2).reshape(b, s, h), weights[1]))
        middle = F.gelu(F.linear(F.layer_norm(x, (h,), scales[1]), weights[2]))
        y = x + dropout(F.linear(middle, weights[3]))
    assert y.requires_grad
    return sum(storage.nbytes() for storage in kept.values())


@pytest.mark.parametrize(("batch", "sequence", "heads"), [(1, 128, 4), (2, 64, 8), (1, 256, 2)])
def test_activations_are_what_torch_keeps_for_the_backward_pass(batch, sequence, heads):
    """Within a per cent: the means and deviations of the two layer norms are not in the formula."""
    counted = saved_for_backward(batch, sequence, 256, heads)
    model = memory.activation_bytes(batch, sequence, layers=1, hidden=256, heads=heads)
    assert model == pytest.approx(counted, rel=0.01)


@pytest.mark.parametrize(
    ("heads", "hidden", "layers", "ratio", "saved"),
    [(96, 12288, 96, 80, 0.70), (128, 20480, 105, 64, 0.65)],
)
def test_selective_recomputation_saves_what_its_paper_says(heads, hidden, layers, ratio, saved):
    """Korthikanti et al. 2022, section 5: 5as/h is 80 and 64, and 70 and 65% are saved."""
    shape = (1, 2048, layers, hidden, heads)
    everything = memory.activation_bytes(*shape)
    selective = memory.activation_bytes(*shape, recompute="selective")
    assert everything / selective == pytest.approx((34 + ratio) / 34)
    assert 1 - selective / everything == pytest.approx(saved, abs=0.005)
    assert memory.activation_bytes(*shape, recompute="full") == selective / 17


@given(st.integers(1, 10**4), st.integers(1, 200), st.integers(0, 300))
def test_fewest_devices_is_what_trying_one_more_each_time_finds(split, size, kept):
    enough = (k for k in range(1, split + 1) if kept * k + split <= size * k)
    assert memory.fewest_devices(split, size, kept) == next(enough, np.inf)


@given(st.integers(1, 10**6), st.floats(1e-3, 1e12))
def test_what_fills_some_devices_exactly_needs_no_device_more(devices, size):
    assert memory.fewest_devices(devices * size, size) == devices
    assert memory.fewest_devices(3 * 0.1, 0.1) == 3  # where 3 * 0.1 / 0.1 is above 3 in binary


def test_fewest_devices_is_infinite_when_the_copy_alone_fills_a_device():
    assert list(memory.fewest_devices(1, [10, 10, 10], [9, 10, 11])) == [1, np.inf, np.inf]


def llama_70b():
    """Parameters of Llama 3 70B, counted matrix by matrix."""
    vocabulary, hidden, layers, middle, keys = 128_256, 8192, 80, 28_672, 8 * 128
    attention = 2 * hidden * hidden + 2 * hidden * keys
    layer = attention + 3 * hidden * middle + 2 * hidden
    return layers * layer + 2 * vocabulary * hidden + hidden


def test_known_models_fit_where_they_are_known_to_fit():
    """70 billion weights in bf16: two H100s or one H200, and eight bits fit one H100."""
    h100, h200 = hardware.device("H100 SXM").memory, hardware.device("H200 SXM").memory
    weights = memory.serving_bytes(llama_70b())
    assert llama_70b() == 70_553_706_496
    assert memory.fewest_devices(weights, h100) == 2
    assert memory.fewest_devices(weights, h200) == 1
    assert memory.serving_bytes(llama_70b(), width=1) < h100
    # To train it with Adam takes fourteen of them before a single activation.
    assert memory.fewest_devices(memory.training_bytes(llama_70b()), h100) == 14
    assert memory.fewest_devices(memory.training_bytes(llama_70b()), h200) == 8


@given(BILLIONS, OPTIMIZERS, PRECISIONS)
def test_the_largest_model_fits_exactly(size, optimizer, precision):
    largest = memory.largest_model(size, sum(memory.state(optimizer, precision)))
    assert memory.training_bytes(largest, 1, optimizer, precision) == pytest.approx(size)


def test_arrays_broadcast_and_scalars_answer_with_floats():
    table = memory.training_bytes(np.array([[7e9], [70e9]]), np.array([1, 8, 64]), stage=3)
    assert table.shape == (2, 3)
    assert type(memory.training_bytes(7e9)) is float
    assert type(memory.fewest_devices(1, 2)) is float
    assert list(memory.serving_bytes(1e9, [0, 5], width=0.5)) == [5e8, 5e8 + 5]


def test_a_wrong_recipe_is_told_the_right_ones():
    with pytest.raises(ValueError, match=r"optimizer must be one of sgd, .*, got 'lion'"):
        memory.state("lion")
    with pytest.raises(ValueError, match=r"precision must be one of fp32, .*, got 'fp8'"):
        memory.state(precision="fp8")
    with pytest.raises(ValueError, match="stage must be a whole number from 0 to 3, got 4"):
        memory.training_bytes(1e9, stage=4)
    with pytest.raises(ValueError, match="recompute must be one of none, selective, full, got 1"):
        memory.activation_bytes(1, 1, 1, 1, 1, recompute=1)


def test_a_share_that_fits_exactly_needs_no_further_device():
    """240 shares of 4.7 GB beside 33.2 GB each: the subtraction loses more than the last bit."""
    kept, share = 33.2 * 1e9, 4.7 * 1e9
    assert memory.fewest_devices(240 * share, kept + share, kept) == 240
    assert memory.fewest_devices(240 * share * 1.001, kept + share, kept) == 241


def test_four_bits_take_half_a_byte():
    """Two weights packed into each byte of a real array."""
    packed = np.zeros(1_000_000 // 2, np.uint8)
    assert memory.serving_bytes(1_000_000, width=0.5) == packed.nbytes
    assert memory.cache_bytes(1, 40, 40, 128, width=0.5) == memory.cache_bytes(1, 40, 40, 128) / 4
    assert memory.serving_bytes(70e9, width=0.5) == 35e9
    assert memory.serving_bytes(70e9, memory.cache_bytes(1e5, 80, 8, 128), 0.5) < 80e9
