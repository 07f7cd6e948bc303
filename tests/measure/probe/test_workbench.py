"""What the probe runs is what it says: products of random matrices, sweeps of the stated bytes."""

import itertools
import types

import pytest

from scalelab.measure.probe import workbench
from scalelab.measure.timing import devices
from tests.measure.fake_gpu import FakeGpu
from tests.sampling import sampled

pytestmark = pytest.mark.turns(2)

torch = pytest.importorskip("torch")
KIB, MIB = 2**10, 2**20
STATED = {"L1d": 96 * KIB, "L2": 2 * MIB, "L3": 32 * MIB}


def processor(threads=2, memory=2**33, stated=STATED):
    return workbench.ProcessorBench(devices.Processor(), "cpu", memory, stated, "DRAM", threads)


def graphics(cache=50 * MIB, free=2**30):
    """The bench of a GPU, with its tensors on the processor."""
    return workbench.CudaBench(FakeGpu(), "cpu", free, {"L2": cache}, "HBM")


@pytest.fixture
def multiplied(monkeypatch):
    """Return every pair of matrices that went into a product."""
    seen, mm = [], torch.mm
    monkeypatch.setattr(torch, "mm", lambda a, b, out: seen.append((a, b)) or mm(a, b, out=out))
    return seen


@pytest.mark.parametrize("name", ["fp64", "fp32", "bf16"])
def test_a_product_is_one_of_random_square_matrices_in_that_format(name, multiplied):
    with processor().product(name, 64) as run:
        answer = run()
    ((left, right),) = multiplied
    assert left.dtype == right.dtype == answer.dtype == getattr(torch, workbench._FORMATS[name])
    assert left.shape == right.shape == (64, 64)
    for matrix in (left, right):
        assert 0.8 < matrix.float().std() < 1.2  # zeros, or one number all over, would have none
    torch.testing.assert_close(answer, left @ right)


def test_the_integers_of_a_product_use_all_their_bits():
    with processor().product("int8", 64) as run:
        answer = run()
    assert answer.dtype == torch.int32
    assert answer.float().std() > 10_000


@pytest.mark.parametrize(("name", "precision"), [("fp32", "highest"), ("tf32", "high")])
def test_float32_is_exact_unless_it_is_tf32_and_the_setting_is_restored(name, precision):
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        with graphics().product(name, 16):
            assert torch.get_float32_matmul_precision() == precision
        assert torch.get_float32_matmul_precision() == "medium"
        with pytest.raises(ZeroDivisionError), graphics().product(name, 16):
            raise ZeroDivisionError
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision(before)


def test_an_eight_bit_product_gets_its_right_matrix_by_columns(monkeypatch):
    """As the kernels of a GPU want it; they do not run here, so the call itself is looked at."""
    calls = []
    monkeypatch.setattr(torch, "_scaled_mm", lambda *given, **named: calls.append((given, named)))
    with graphics().product("fp8", 32) as run:
        run()
    ((left, right, *scales), named) = calls[0]
    assert left.dtype == right.dtype == torch.float8_e4m3fn
    assert (left.stride(), right.stride()) == ((32, 1), (1, 32))
    assert [scale.item() for scale in scales] == [1, 1]
    assert named["out_dtype"] == torch.bfloat16


def test_integers_are_multiplied_by_columns_on_a_gpu_and_by_rows_on_a_processor(monkeypatch):
    """By rows, an H100 reached 136 TFLOP/s of the 1,979 that its sheet prints for int8."""
    calls = []
    monkeypatch.setattr(torch, "_int_mm", lambda left, right, out: calls.append(right.stride()))
    for bench in (graphics(), processor()):
        with bench.product("int8", 32) as run:
            run()
    assert calls == [(1, 32), (32, 1)]


BENCHES = {"1 thread": processor(1), "2 threads": processor(2), "3 threads": processor(3)}
BENCHES["GPU"] = graphics()


@pytest.mark.parametrize(
    ("kind", "size", "bench"),
    sampled(
        [
            pytest.param(kind, size, bench, id=f"{kind}-{size}-{name}")
            for kind in ("copy", "triad")
            for size in (96 * KIB, MIB, 8 * MIB)
            for name, bench in BENCHES.items()
        ],
        6,
    ),
)
def test_a_sweep_computes_moves_what_it_says_and_stays_within_its_working_set(kind, size, bench):
    arrays, made = [], bench._arrays
    bench._arrays = lambda *given: arrays.extend(made(*given)) or arrays
    try:
        run, moved = bench.sweep(kind, size)
    finally:
        del bench._arrays
    target, *sources = arrays
    target.fill_(-7)
    assert len(arrays) == workbench.ARRAYS[kind]
    held = sum(array.untyped_storage().nbytes() for array in arrays)
    assert 0.95 * size < held <= size
    assert moved == sum(array.numel() * array.element_size() for array in arrays)
    run()
    expected = sources[0] if kind == "copy" else sources[0] + 3 * sources[1]
    torch.testing.assert_close(target, expected)
    assert all(source.std() > 0.3 for source in sources)


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_threads_sweep_parts_of_their_own_cache_line_by_cache_line(threads):
    """A row that began within a line, or a line of two threads, would measure something else."""
    (array,) = processor(threads)._arrays(torch, 1, 2**17)
    assert array.shape[0] == threads
    assert all(stride % 16 == 0 for stride in array.stride()[:-1])
    part = array.stride(0)
    reach = sum((n - 1) * step for n, step in zip(array.shape[1:], array.stride()[1:], strict=True))
    assert reach < part
    assert reach + 16 > part - 16
    assert array.data_ptr() % 64 == 0


def test_a_small_set_is_swept_many_times_in_one_call_and_a_large_one_once():
    small, large = (processor()._arrays(torch, 1, n)[0] for n in (2**12, 2**24))
    assert small.numel() >= 2 * workbench._PER_CALL
    assert large.numel() == 2**24


@pytest.mark.parametrize(
    ("bench", "first", "last"),
    [
        (processor(), 32 * KIB, 512 * MIB),  # half the L1; 12 times the L3 is 384 MiB
        (processor(memory=100 * MIB), 32 * KIB, 64 * MIB),
        (processor(threads=4, stated={}), 64 * KIB, 512 * MIB),
        (graphics(), 2 * MIB, 1024 * MIB),  # a sixteenth of the L2, and 12 times
        (graphics(free=300 * MIB), 2 * MIB, 256 * MIB),
    ],
)
def test_sizes_double_from_the_smallest_cache_to_well_beyond_the_last(bench, first, last):
    sizes = bench.sizes()
    assert (sizes[0], sizes[-1]) == (first, last)
    assert all(b == 2 * a for a, b in itertools.pairwise(sizes))


def test_nothing_is_an_addition_of_one_number():
    assert processor().nothing()().numel() == 1


def test_the_processor_is_this_one_with_the_threads_that_torch_uses():
    bench = workbench.pick("cpu")
    assert bench.threads == torch.get_num_threads()
    assert (bench.name, bench.last) == ("cpu", "DRAM")
    assert bench.memory > 0


@pytest.mark.parametrize(("bus", "last"), [(5120, "HBM"), (384, "DRAM"), (None, "DRAM")])
def test_a_gpu_is_asked_for_its_cache_its_free_memory_and_its_bus(bus, last, monkeypatch):
    said = {"L2_cache_size": 50 * MIB} | ({} if bus is None else {"memory_bus_width": bus})
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(
        torch.cuda, "get_device_properties", lambda index: types.SimpleNamespace(**said)
    )
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (8 * 2**30, 16 * 2**30))
    bench = workbench.pick(FakeGpu())
    assert (bench.name, bench.place, bench.last) == ("cuda", "cuda", last)
    assert bench.stated == {"L2": 50 * MIB}
    assert bench.memory == 2 * 2**30


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("name", workbench.CudaBench.formats)
def test_every_format_runs_on_a_real_gpu_unless_it_is_too_old(name):
    bench = workbench.pick("cuda")
    try:
        with bench.product(name, 2048) as run:
            answer = run()
            bench.device.synchronize()
    except RuntimeError as error:
        if torch.cuda.get_device_capability() >= (8, 9):
            raise
        pytest.skip(f"too old for {name}: {error}")
    assert answer.shape == (2048, 2048)
    assert answer.isfinite().all()
