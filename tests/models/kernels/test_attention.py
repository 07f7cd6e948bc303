"""FLOPs and bytes of attention: against torch's counter and a blocked loop with counted traffic."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scalelab.models.kernels import attention, kernels
from scalelab.refusal import Refusal
from tests.models.counting import Memory, traffic

RNG = np.random.default_rng(7)
LENGTH = st.integers(1, 9)
H100_RIDGE = 989e12 / 3.35e12


# --- Traffic, one counted load or store at a time --------------------------------------------------


def plain(queries, keys, values, causal=False):
    """Attention of one head by its definition."""
    scores = queries @ keys.T
    if causal:
        hidden = np.triu(np.ones(scores.shape, dtype=bool), len(keys) - len(queries) + 1)
        scores = np.where(hidden, -np.inf, scores)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True) @ values


def streamed(block, causal):
    """Attention with a block of queries on chip: keys and values pass one row at a time."""

    def run(queries, keys, values, result):
        length, offset = len(queries.array), len(keys.array) - len(queries.array)
        for start in range(0, length, block):
            part = slice(start, min(start + block, length))
            rows, position = queries.load(part), offset + np.arange(length)[part]
            top, total = np.full(len(rows), -np.inf), np.zeros(len(rows))
            done = np.zeros_like(rows)
            last = position[-1] if causal else len(keys.array) - 1
            for j in range(last + 1):
                scores = rows @ keys.load(j)
                if causal:
                    scores[position < j] = -np.inf
                higher = np.maximum(top, scores)
                shrink, power = np.exp(top - higher), np.exp(scores - higher)
                total, top = total * shrink + power, higher
                done = done * shrink[:, None] + power[:, None] * values.load(j)
            result.store(done / total[:, None], part)

    return run


@given(LENGTH, LENGTH, LENGTH, st.booleans())
def test_fused_attention_moves_what_a_streaming_loop_moves(queries, more, block, causal):
    keys = queries + more - 1
    q, k, v = (RNG.normal(size=(rows, 4)) for rows in (queries, keys, keys))
    result = np.empty_like(q)
    moved = traffic(streamed(block, causal), q, k, v, result)
    assert result == pytest.approx(plain(q, k, v, causal))
    assert attention.fused(queries, keys, 4, 8, causal=causal, block=block).bytes == moved


@given(LENGTH, LENGTH, st.sampled_from([1, 2, 4]), st.integers(1, 5), st.booleans())
def test_a_block_of_a_group_reads_its_keys_once_for_all_its_heads(
    queries, more, sharing, positions, causal
):
    """Two groups of `sharing` heads, a block of `positions` rows of each head, every load counted."""
    keys, block = queries + more - 1, positions * sharing

    def run(q, k, v, result):
        hidden = np.tril(np.ones((queries, keys)), more - 1) == 0
        for group in range(2):
            heads = slice(group * sharing, (group + 1) * sharing)
            for start in range(0, queries, positions):
                part = slice(start, min(start + positions, queries))
                rows = q.load(heads, part)
                seen = part.stop + more - 1 if causal else keys
                scores = rows @ k.load(group, slice(seen)).T
                if causal:
                    scores[:, hidden[part, :seen]] = -np.inf
                powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
                shares = powers / powers.sum(axis=-1, keepdims=True)
                result.store(shares @ v.load(group, slice(seen)), heads, part)

    q = RNG.normal(size=(2 * sharing, queries, 4))
    k, v = RNG.normal(size=(2, 2, keys, 4))
    result = np.empty_like(q)
    moved = traffic(run, q, k, v, result)
    for head in range(2 * sharing):
        group = head // sharing
        assert result[head] == pytest.approx(plain(q[head], k[group], v[group], causal))
    shape = {"heads": 2 * sharing, "kv_heads": 2, "causal": causal}
    assert attention.fused(queries, keys, 4, 8, block=block, **shape).bytes == moved
    with pytest.raises(ValueError, match="block must"):
        attention.fused(queries, keys, 4, 8, heads=8, kv_heads=1, block=7)


def test_naive_attention_moves_what_three_kernels_move():
    q, k, v = (RNG.normal(size=(rows, 4)) for rows in (6, 9, 9))
    scores, result = np.empty((6, 9)), np.empty((6, 4))

    def run(q, k, v, scores, result):
        scores.store(q.load(...) @ k.load(...).T, ...)
        powers = np.exp(scores.load(...))
        scores.store(powers / powers.sum(axis=1, keepdims=True), ...)
        result.store(scores.load(...) @ v.load(...), ...)

    assert attention.naive(6, 9, 4, 8).bytes == traffic(run, q, k, v, scores, result)
    assert result == pytest.approx(plain(q, k, v))


@given(LENGTH, LENGTH, LENGTH, st.sampled_from([(1, 1), (8, 8), (8, 2), (8, 1)]), st.integers(1, 3))
def test_naive_attention_is_gemm_softmax_gemm(queries, keys, size, head_counts, batch):
    heads, groups = head_counts
    rows = queries * heads // groups  # the heads of a group are rows of one product
    first = kernels.gemm(rows, keys, size, 2, batch * groups)
    middle = kernels.softmax(rows * batch * groups, keys, 2)
    last = kernels.gemm(rows, size, keys, 2, batch * groups)
    whole = attention.naive(queries, keys, size, 2, heads, groups, batch)
    assert whole.flops == first.flops + last.flops
    assert whole.bytes == first.bytes + middle.bytes + last.bytes


# --- Torch's own counter ---------------------------------------------------------------------------


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("heads", "groups"), [(8, 8), (8, 2), (8, 1)])
def test_torch_counts_the_same_flops(heads, groups, causal):
    """Torch counts the whole square, mask or not; honouring the mask leaves little over half."""
    torch = pytest.importorskip("torch")
    from torch.utils.flop_counter import FlopCounterMode

    with torch.device("meta"), FlopCounterMode(display=False) as counter:
        query, key = torch.empty(3, heads, 64, 16), torch.empty(3, groups, 64, 16)
        torch.nn.functional.scaled_dot_product_attention(
            query, key, key, is_causal=causal, enable_gqa=groups < heads
        )
    counted = counter.get_total_flops()
    shape = (64, 64, 16, 2, heads, groups, 3)
    assert attention.fused(*shape).flops == attention.naive(*shape).flops == counted
    assert attention.fused(*shape, causal=True).flops == counted * 65 / 128


# --- Identities ------------------------------------------------------------------------------------


@given(st.integers(1, 50), st.integers(0, 50))
def test_a_mask_leaves_the_pairs_it_lets_see_each_other(queries, earlier):
    keys = queries + earlier
    pairs = sum(earlier + i + 1 for i in range(queries))
    assert attention.fused(queries, keys, 1, 1, causal=True).flops == 4 * pairs


@given(st.lists(st.integers(1, 40), min_size=1, max_size=6))
def test_a_prompt_in_chunks_costs_the_flops_of_the_whole(chunks):
    ends = np.cumsum(chunks)
    parts = attention.fused(np.array(chunks), ends, 8, 2, causal=True)
    assert parts.flops.sum() == attention.fused(ends[-1], ends[-1], 8, 2, causal=True).flops


def test_decoding_every_token_costs_the_flops_of_a_prefill_and_far_more_bytes():
    steps = attention.decode(np.arange(1, 1025), 64, 2)
    prefill = attention.fused(1024, 1024, 64, 2, causal=True)
    assert steps.flops.sum() == prefill.flops
    assert steps.bytes.sum() > 200 * prefill.bytes


def test_decoding_nears_its_intensity_whatever_context_and_batch():
    for heads, groups, width in [(32, 32, 2), (32, 8, 2), (64, 1, 2), (32, 8, 1)]:
        limit = 2 * heads / (groups * width)
        found = attention.decode([1e3, 1e5], 128, width, heads, groups, sequences=[1, 64]).intensity
        assert found == pytest.approx(np.full(2, limit), rel=0.1)
        assert found[1] == pytest.approx(limit, rel=1e-3)
        assert (found < limit).all()


def test_a_prompt_is_compute_bound_and_a_token_memory_bound():
    prompt, token = (
        attention.fused(4096, 4096, 128, 2, 32, 8),
        attention.decode(4096, 128, 2, 32, 8),
    )
    assert prompt.intensity > H100_RIDGE > 50 * token.intensity
    assert attention.naive(4096, 4096, 128, 2, 32, 8).intensity < H100_RIDGE / 4


@given(st.integers(1, 2000), st.integers(1, 2000), st.booleans())
def test_twice_the_block_never_moves_more(queries, block, causal):
    smaller = attention.fused(queries, 2000, 64, 2, causal=causal, block=block)
    larger = attention.fused(queries, 2000, 64, 2, causal=causal, block=2 * block)
    whole = attention.fused(queries, 2000, 64, 2, causal=causal)
    assert smaller.bytes >= larger.bytes >= whole.bytes
    assert smaller.flops == whole.flops


def test_traffic_falls_with_the_square_of_the_head_over_the_chip():
    """Theorem 2 of Dao et al. 2022: n^2 d^2 / M, where a block of M / d rows fits a chip of M."""
    chip, size = 2.0**16, np.array([64, 128])
    moved = attention.fused(2**17, 2**17, size, 1, block=chip / size).bytes
    assert moved[1] / moved[0] == pytest.approx(4, rel=0.02)


def test_groups_share_their_traffic():
    """With 8 query heads to a key-value head, a long cache moves an eighth."""
    alone, shared = (attention.decode(1e6, 128, 2, 64, groups) for groups in (64, 8))
    assert alone.flops == shared.flops
    assert alone.bytes == pytest.approx(8 * shared.bytes, rel=1e-3)


def test_shapes_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="kv_heads must divide heads, got 3 for 8"):
        attention.decode(64, 64, 2, heads=8, kv_heads=3)
    with pytest.raises(ValueError, match="no fewer than queries under a causal mask"):
        attention.fused(8, 4, 64, 2, causal=True)
    with pytest.raises(Refusal, match="causal must be True or False, got 1"):
        attention.fused(8, 8, 64, 2, causal=1)


def test_the_counting_memory_counts():
    """Eight bytes a number, in and out."""
    assert traffic(lambda m: m.store(m.load(0), 1), np.zeros((2, 5))) == 80
    assert isinstance(Memory(np.zeros(3)).load(slice(2)), np.ndarray)
