"""Which kernels are timed on a GPU, by which clocks, and what is said of each; here the work is shrunk."""

from typing import ClassVar

import pytest

from scalelab import data, records
from scalelab.measure.energy import energy
from scalelab.measure.probe import accelerator, layer, workbench
from scalelab.measure.timing import devices
from scalelab.models.kernels import kernels
from scalelab.placement import counted

pytestmark = pytest.mark.turns(2)

SMALL = {"70B": layer.LayerShape(64, 96, 8, 2, 8), "1B": layer.LayerShape(32, 48, 4, 2, 8)}


class Queue(devices.Processor):
    """A processor with what a GPU has: it replays by calling again."""

    def synchronize(self):
        pass

    def prepare(self):
        pass

    def captured(self, run):
        return run


@pytest.fixture(scope="module")
def found():
    """Take it all, small; what runs on a GPU only is multiplied in 16 bits."""
    product, square = accelerator._product, workbench.CudaBench._product
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"_ROWS": 8, "_CONTEXT": 16, "_COPIED": 64, "_SIDE": 32}.items():
            patch.setattr(accelerator, name, value)
        patch.setattr(
            accelerator,
            "_product",
            lambda torch, name, *three: product(
                torch, "bf16", *(one.to(torch.bfloat16) for one in three)
            ),
        )
        patch.setattr(
            workbench.CudaBench,
            "_product",
            lambda bench, torch, name, size: square(
                bench, torch, "bf16" if name == "fp8" else name, size
            ),
        )
        told = []
        recording = accelerator.take(
            budget=1e-3, device=Queue(), place="cpu", shapes=SMALL, report=told.append
        )
    assert len(told) == len(set(told)) == len(recording.samples) / 3
    return recording


def test_every_kernel_is_timed_by_every_clock_and_can_be_kept(found):
    by_clock = [{s.label for s in found.samples if s.given["clock"] == c} for c in CLOCKS]
    assert by_clock[0] == by_clock[1] == by_clock[2]
    assert len(by_clock[0]) == len(found.samples) / 3
    assert records.from_json(records.to_json(found)) == found


CLOCKS = ("device", "host", "graph")


def test_the_recorded_gpu_has_run_the_same_kernels(found):
    recorded = data.recorded("h100").samples
    names = {(s.label, s.given["clock"]) for s in recorded}
    assert names == {(s.label, s.given["clock"]) for s in found.samples}
    for one in recorded:
        assert [gpu.name for gpu in one.machine.gpus] == ["NVIDIA H100 80GB HBM3"]
        assert (one.kind, bool(one.date)) == ("recorded", True)


def test_what_a_kernel_was_given_is_enough_to_count_it(found):
    for one in found.samples:
        assert isinstance(counted(one), kernels.Kernel), one.label


def test_joules_are_of_one_call_and_are_left_out_where_nothing_tells_them(monkeypatch):
    class Told:
        parts: ClassVar = {}

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

    calls = []
    Told.parts = {
        "package 0": energy.MachinePart(50.0, None),
        "GPU 0": energy.MachinePart(30.0, None),
    }
    monkeypatch.setattr(energy, "meter", Told)
    assert accelerator._joules(lambda: calls.append(1), 10, Queue()) == {"joules": 3.0}
    assert len(calls) == 10
    Told.parts = {"GPU 0": energy.MachinePart(None, None)}
    assert accelerator._joules(int, 1, Queue()) == {}
    Told.parts = {"package 0": energy.MachinePart(50.0, None)}
    assert accelerator._joules(int, 1, Queue()) == {}


def test_what_a_device_cannot_do_is_left_out_and_named(monkeypatch):
    """PyTorch raises for fp8 on an A100; all that came before was lost once."""

    def refuses():
        raise RuntimeError(
            "torch._scaled_mm is only supported on CUDA devices with capability >= 8.9"
        )

    def cases(torch, bench, shapes):
        yield "product of 16, fp8", {"what": "product"}, refuses
        yield "add", {"what": "start"}, lambda: None

    for name in ("_squares", "_streams", "_products", "_attention", "_layers"):
        monkeypatch.setattr(accelerator, name, lambda *_: ())
    monkeypatch.setattr(accelerator, "_streams", cases)
    found = accelerator.take(budget=1e-3, device=Queue(), place="cpu")
    assert {one.label for one in found.samples} == {"add"}
    assert found.note.endswith("Not here: product of 16, fp8.")
