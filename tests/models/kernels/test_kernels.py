"""FLOPs and bytes of the kernels: against counted arithmetic, counted traffic and torch's counter."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scalelab.models.kernels import kernels, roofline
from scalelab.refusal import Refusal
from tests.models.counting import operations, traffic

RNG = np.random.default_rng(7)
SIZE = st.integers(1, 10**5)
WIDTH = st.sampled_from([0.5, 1, 2, 4, 8])


# --- Arithmetic, one counted operation at a time ---------------------------------------------------


def add_up(numbers):
    """Sum by additions, one fewer than there are numbers."""
    total = numbers[0]
    for number in numbers[1:]:
        total = total + number
    return total


def multiplied(left, right):
    return [
        [add_up([a * b for a, b in zip(row, column, strict=True)]) for column in right.T]
        for row in left
    ]


def softmaxed(row):
    largest = row[0]
    for number in row[1:]:
        largest = number.larger(largest)
    powers = [(number - largest).exp() for number in row]
    total = add_up(powers)
    return [power / total for power in powers]


def normalised(row, gain, bias):
    mean = add_up(row) / len(row)
    centred = [number - mean for number in row]
    deviation = (add_up([c * c for c in centred]) / len(row) + 1e-5).sqrt()
    scale = type(mean)(1) / deviation
    return [c * scale * g + b for c, g, b in zip(centred, gain, bias, strict=True)]


def test_axpy_does_as_many_operations_as_counted():
    x, y = RNG.normal(size=(2, 50))
    got, done = operations(lambda x, y: x * 3.0 + y, x, y)
    assert list(got) == pytest.approx(3 * x + y)
    assert kernels.axpy(50, 8).flops == done


@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 60), (7, 1, 40), (3, 5, 30)])
def test_products_do_as_many_operations_as_counted(m, n, k):
    """All but the first of k additions: the convention counts it, for a multiply-add is two."""
    left, right = RNG.normal(size=(m, k)), RNG.normal(size=(k, n))
    got, done = operations(multiplied, left, right)
    assert np.array(got, dtype=float) == pytest.approx(left @ right)
    assert kernels.gemm(m, n, k, 8).flops - done == m * n
    if n == 1:
        assert kernels.gemv(m, k, 8).flops == kernels.gemm(m, 1, k, 8).flops
    if m == n == 1:
        assert kernels.dot(k, 8).flops == kernels.gemm(1, 1, k, 8).flops


@pytest.mark.parametrize("columns", [10, 300])
def test_softmax_does_five_operations_a_number(columns):
    row = RNG.normal(size=columns)
    got, done = operations(softmaxed, row)
    assert got == pytest.approx(np.exp(row) / np.exp(row).sum())
    assert kernels.softmax(1, columns, 8).flops - done == 2  # first maximum and first sum are free


@pytest.mark.parametrize("columns", [10, 300])
def test_layer_norm_does_seven_operations_a_number(columns):
    row, gain, bias = RNG.normal(size=(3, columns))
    got, done = operations(normalised, row, gain, bias)
    expected = (row - row.mean()) / np.sqrt(row.var() + 1e-5) * gain + bias
    assert [float(g) for g in got] == pytest.approx(expected)
    assert abs(kernels.layer_norm(1, columns, 8).flops - done) <= 3  # of the row: mean, root, scale


# --- Traffic, one counted load or store at a time --------------------------------------------------


def parts(length, block):
    return [slice(i, min(i + block, length)) for i in range(0, length, block)]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("block", [1, 7, 64, 1000])
def test_streaming_kernels_move_what_a_blocked_loop_moves(dtype, block):
    """Whatever the block: these touch each number once, so no cache helps or hurts."""
    x, y, z = RNG.normal(size=(3, 300)).astype(dtype)
    expected = 2 * x + y

    def copy(x, z):
        for part in parts(300, block):
            z.store(x.load(part), part)

    def axpy(x, y):
        for part in parts(300, block):
            y.store(2 * x.load(part) + y.load(part), part)

    def dot(x, y, z):
        z.store(sum(x.load(part) @ y.load(part) for part in parts(300, block)), 0)

    width = np.dtype(dtype).itemsize
    assert kernels.copy(300, width).bytes == traffic(copy, x, z)
    assert (z == x).all()
    assert kernels.dot(300, width).bytes == traffic(dot, x, y, z)
    assert z[0] == pytest.approx(x @ y, rel=0.01, abs=0.1)
    assert kernels.axpy(300, width).bytes == traffic(axpy, x, y)
    assert (y == expected).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_row_kernels_move_what_a_loop_over_rows_moves(dtype):
    rows, gain, bias = (RNG.normal(size=s).astype(dtype) for s in [(6, 40), 40, 40])
    width, result = np.dtype(dtype).itemsize, np.empty_like(rows)

    def softmax(source, target):
        for i in range(6):
            powers = np.exp(source.load(i) - source.array[i].max())
            target.store(powers / powers.sum(), i)

    def layer_norm(source, gain, bias, target):
        g, b = gain.load(...), bias.load(...)
        for i in range(6):
            row = source.load(i)
            target.store((row - row.mean()) / np.sqrt(row.var() + 1e-5) * g + b, i)

    assert kernels.softmax(6, 40, width).bytes == traffic(softmax, rows, result)
    assert result.sum(axis=1) == pytest.approx(np.ones(6))
    assert kernels.layer_norm(6, 40, width).bytes == traffic(layer_norm, rows, gain, bias, result)


def blocked_product(rows, columns):
    """Matrix product that holds a tile of the result, and a strip of each operand, on chip."""

    def product(left, right, result):
        (m, n), k = result.array.shape, left.array.shape[1]
        for i in parts(m, rows):
            for j in parts(n, columns):
                tile = sum(
                    left.load(i, slice(p, p + 1)) @ right.load(slice(p, p + 1), j) for p in range(k)
                )
                result.store(tile, i, j)

    return product


@given(
    st.integers(1, 9), st.integers(1, 9), st.integers(1, 9), st.integers(1, 9), st.integers(1, 9)
)
def test_no_blocking_of_a_product_beats_compulsory_traffic(m, n, k, rows, columns):
    left, right, result = np.ones((m, k)), np.ones((k, n)), np.empty((m, n))
    moved = traffic(blocked_product(rows, columns), left, right, result)
    assert (result == k).all()
    compulsory = kernels.gemm(m, n, k, 8).bytes
    assert moved >= compulsory
    assert (moved == compulsory) == (rows >= m and columns >= n)


# --- Torch's own counter ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("m", "n", "k", "batch"), [(64, 32, 16, 1), (4096, 1, 4096, 1), (5, 7, 11, 13)]
)
def test_torch_counts_the_same_flops(m, n, k, batch):
    """On shapes alone: the meta device multiplies nothing."""
    torch = pytest.importorskip("torch")
    from torch.utils.flop_counter import FlopCounterMode

    with torch.device("meta"), FlopCounterMode(display=False) as counter:
        torch.empty(batch, m, k, dtype=torch.bfloat16) @ torch.empty(
            batch, k, n, dtype=torch.bfloat16
        )
    assert kernels.gemm(m, n, k, 2, batch).flops == counter.get_total_flops()


# --- Identities and published values ---------------------------------------------------------------


@given(SIZE, SIZE, WIDTH)
def test_vector_and_matrix_vector_products_are_thin_matrix_products(m, k, width):
    assert kernels.gemv(m, k, width).bytes == kernels.gemm(m, 1, k, width).bytes
    assert kernels.dot(k, width).bytes == kernels.gemm(1, 1, k, width).bytes


@given(SIZE, SIZE, SIZE, WIDTH, st.integers(1, 64))
def test_a_batch_repeats_a_product_without_changing_its_intensity(m, n, k, width, batch):
    one, many = kernels.gemm(m, n, k, width), kernels.gemm(m, n, k, width, batch)
    assert many.flops == pytest.approx(batch * one.flops)
    assert many.intensity == pytest.approx(one.intensity)


@given(SIZE, SIZE, SIZE, WIDTH)
def test_transposing_a_product_changes_neither_count(m, n, k, width):
    kernel, transposed = kernels.gemm(m, n, k, width), kernels.gemm(n, m, k, width)
    assert kernel.flops == pytest.approx(transposed.flops)
    assert kernel.bytes == pytest.approx(transposed.bytes)


@pytest.mark.parametrize(
    "kernel",
    [
        lambda w: kernels.axpy(99, w),
        lambda w: kernels.softmax(9, 99, w),
        lambda w: kernels.layer_norm(9, 99, w),
        lambda w: kernels.gemm(9, 8, 7, w),
    ],
)
def test_half_the_width_is_twice_the_intensity(kernel):
    assert kernel(2).intensity == pytest.approx(2 * kernel(4).intensity)


def test_published_intensities():
    """Austin et al. 2025, chapter 1: a bf16 dot product has 1/2; a thin product has its batch."""
    assert kernels.dot(1e7, 2).intensity == pytest.approx(0.5, rel=1e-6)
    for tokens in (1, 64, 240):
        assert kernels.gemm(tokens, 1e6, 1e6, 2).intensity == pytest.approx(tokens, rel=1e-3)
    assert kernels.gemm(240, 1e6, 1e6, 1).intensity == pytest.approx(480, rel=1e-3)
    # LBNL, https://crd.lbl.gov roofline introduction: x += y in float64, 1 FLOP in 24 bytes.
    assert kernels.axpy(10, 8).bytes / 10 == 24


def test_a_square_product_gains_a_third_of_its_side():
    """2 n^3 over 3 n^2 width: the reason why large products reach the flat roof."""
    for side in (30, 3000):
        assert kernels.gemm(side, side, side, 2).intensity == pytest.approx(side / 3)


def test_a_copy_has_bytes_only():
    kernel = kernels.copy(10, 4)
    assert (kernel.flops, kernel.bytes, kernel.intensity) == (0, 80, 0)


def test_a_sweep_of_shapes_is_one_kernel():
    sweep = kernels.gemm(2 ** np.arange(3, 14), 8192, 8192, 2)
    single = [kernels.gemm(int(m), 8192, 8192, 2) for m in 2 ** np.arange(3, 14)]
    assert list(sweep.flops) == [kernel.flops for kernel in single]
    assert list(sweep.intensity) == [kernel.intensity for kernel in single]
    kinds = roofline.classify(sweep.flops, sweep.bytes, 989e12, 3.35e12)
    assert list(kinds) == ["memory"] * 6 + ["compute"] * 5


@pytest.mark.parametrize("name", ["", None, 3])
def test_a_kernel_needs_a_name(name):
    with pytest.raises(Refusal, match="name must be text"):
        kernels.Kernel(name, 1, 1)


@pytest.mark.parametrize(("flops", "bytes"), [(-1, 1), (1, 0), (float("nan"), 1), (1, [1, -1])])
def test_a_kernel_needs_legitimate_counts(flops, bytes):
    with pytest.raises(ValueError, match="must be a finite number"):
        kernels.Kernel("mine", flops, bytes)


def test_a_size_below_one_is_named():
    with pytest.raises(ValueError, match="k must be a finite number from 1 on, got 0"):
        kernels.gemm(4, 4, 0, 2)
    with pytest.raises(ValueError, match="width must be a finite number above 0"):
        kernels.copy(4, 0)
