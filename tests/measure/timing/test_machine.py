"""What a host tells about itself, and what it hides."""

import os
import subprocess
import sys
import types
from dataclasses import replace

import pytest

from scalelab import records
from scalelab.measure.host import machine, nvidia
from scalelab.records import Gpu

TWO_GPUS = """\
0, GPU-1a2b, NVIDIA H200, 143771, 700.00, 570.86.15
1, GPU-1a3c, NVIDIA H200, 143771, [N/A], 570.86.15
"""
FIELDS = ("name", "memory.total", "power.limit", "driver_version")
H200 = Gpu("NVIDIA H200", 143771 * 2**20, 700.0)


def program(output="", error=None):
    """Return what stands in for subprocess.run, with nvidia-smi's answer."""

    def run(command, **settings):
        assert command[0] == "nvidia-smi"
        if error:
            raise error
        return types.SimpleNamespace(stdout=output)

    return run


@pytest.fixture(autouse=True)
def every_gpu_visible(monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


def test_this_machine_is_a_record_that_can_be_kept():
    here = machine.this_machine()
    assert records.from_json(records.to_json(here)) == here
    assert 1 <= here.cores <= os.cpu_count()
    assert str(here.cores) in here.name
    assert here.python.count(".") == 2


def test_versions_come_without_the_import():
    """In a fresh process, because this one has imported everything."""
    code = (
        "import sys\n"
        "from scalelab.measure.host.machine import this_machine\n"
        "m = this_machine()\n"
        "print(m.torch, m.numpy, 'torch' in sys.modules, 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    torch, numpy, *imported = done.stdout.split()
    assert torch.startswith("2.")
    assert numpy[0].isdigit()
    assert imported == ["False", "False"]


@pytest.mark.parametrize(
    ("quota", "cores"), [("max 100000", None), ("100000 100000", 1), ("50000 100000", 1)]
)
def test_a_container_quota_limits_the_cores(tmp_path, quota, cores):
    (tmp_path / "cpu.max").write_text(quota + "\n")
    unlimited = machine.usable_cores(tmp_path / "absent")
    assert machine.usable_cores(tmp_path) == (cores or unlimited)


def test_a_container_limit_bounds_the_memory(tmp_path):
    whole = machine.usable_memory(tmp_path)
    (tmp_path / "memory.max").write_text("1000000\n")
    assert machine.usable_memory(tmp_path) == 1_000_000 < whole
    (tmp_path / "memory.max").write_text("max\n")
    assert machine.usable_memory(tmp_path) == whole


def test_data_caches_are_read_and_instruction_caches_are_not(tmp_path):
    core = min(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0
    levels = [("1", "Data", "48K"), ("1", "Instruction", "32K"), ("2", "Unified", "1024K")]
    for index, entries in enumerate(levels):
        folder = tmp_path / f"cpu{core}" / "cache" / f"index{index}"
        folder.mkdir(parents=True)
        for name, entry in zip(("level", "type", "size"), entries, strict=True):
            (folder / name).write_text(entry + "\n")
    expected = {"L1d": 48 * 1024, "L2": 2**20} if hasattr(os, "sched_getaffinity") else {}
    assert machine._caches(tmp_path) == expected


def test_what_the_system_hides_is_absent_and_not_zero(tmp_path):
    assert machine._caches(tmp_path) == {}
    assert all(size > 0 for size in machine.this_machine().caches.values())


def test_caches_are_counted_over_the_usable_cores(tmp_path, monkeypatch):
    """Four cores, two threads each of which share an L2, and one L3; a fifth core is not ours."""
    monkeypatch.setattr(machine, "_affinity", lambda: [0, 1, 2, 3])
    for core, pair in enumerate(("0-1", "0-1", "2-3", "2-3", "4")):
        for index, (level, shared) in enumerate((("2", pair), ("3", "0-4"))):
            folder = tmp_path / f"cpu{core}" / "cache" / f"index{index}"
            folder.mkdir(parents=True)
            for name, entry in (("level", level), ("type", "Unified"), ("shared_cpu_list", shared)):
                (folder / name).write_text(entry + "\n")
    assert machine._cache_counts(tmp_path) == {"L2": 2, "L3": 1}


CPUINFO = """\
processor\t: 0
vendor_id\t: AuthenticAMD
cpu family\t: 25
model\t\t: 17
model name\t: AMD EPYC
cpu MHz\t\t: 2596.138
flags\t\t: fpu sse2 fma avx2{more}

processor\t: 4
vendor_id\t: GenuineIntel
cpu family\t: 6
model\t\t: 151
flags\t\t: fpu sse2 fma
"""
ARM = "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n"


@pytest.mark.parametrize(("more", "bits"), [("", 256), (" avx512f", 512)])
def test_a_core_is_what_it_says_and_its_clock_is_not_that_of_the_moment(
    tmp_path, monkeypatch, more, bits
):
    monkeypatch.setattr(machine, "_affinity", lambda: [0])
    (tmp_path / "cpuinfo").write_text(CPUINFO.format(more=more))
    told = machine.this_core(tmp_path / "cpuinfo", tmp_path)
    assert told == ("AuthenticAMD", 25, 17, bits, None)
    folder = tmp_path / "cpu0" / "cpufreq"
    folder.mkdir(parents=True)
    (folder / "cpuinfo_max_freq").write_text("3700000\n")
    assert machine.this_core(tmp_path / "cpuinfo", tmp_path).clock == 3.7e9


def test_of_several_cores_the_first_that_is_ours_speaks(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "_affinity", lambda: [4, 5])
    (tmp_path / "cpuinfo").write_text(CPUINFO.format(more=""))
    assert machine.this_core(tmp_path / "cpuinfo", tmp_path)[:4] == ("GenuineIntel", 6, 151, 256)


@pytest.mark.parametrize("written", ["", ARM])
def test_a_core_that_says_nothing_has_nothing_guessed(tmp_path, monkeypatch, written):
    monkeypatch.setattr(machine, "_affinity", lambda: [0])
    (tmp_path / "cpuinfo").write_text(written)
    assert machine.this_core(tmp_path / "cpuinfo", tmp_path) == (None,) * 5


@pytest.mark.parametrize(
    ("cores", "written"),
    [([], ""), ([3], "3"), ([0, 1, 2, 3], "0-3"), ([0, 2, 3, 8, 9, 10], "0,2-3,8-10")],
)
def test_cores_are_listed_as_linux_lists_them(cores, written):
    assert machine._ranges(cores) == written


def test_what_belongs_to_the_moment_does_not_make_another_machine():
    here = replace(machine.this_machine(), affinity="0-3", load=0.5)
    assert replace(here, affinity="4-7", load=9.0) == here
    assert records.from_json(records.to_json(here)).load == 0.5
    assert replace(here, gpus=(H200,)) != here


def test_the_driver_describes_the_gpus_and_leaves_out_what_it_does_not_know():
    gpus, driver = nvidia.describe(nvidia.ask(*FIELDS, run=program(TWO_GPUS)))
    assert gpus == (H200, replace(H200, power_limit=None))
    assert driver == "570.86.15"


@pytest.mark.parametrize(
    ("chosen", "indices"),
    [
        (None, "01"),
        ("0,1", "01"),
        ("1,0", "10"),
        ("1", "1"),
        ("GPU-1a3", "1"),
        ("GPU-1a", ""),  # either of them
        ("", ""),
        ("-1", ""),
        ("0,-1,1", "0"),  # CUDA reads up to the first that is none
        ("0,0", "0"),
        ("MIG-1a2b", ""),
    ],
)
def test_only_the_gpus_of_this_process_count(chosen, indices, monkeypatch):
    if chosen is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", chosen)
    rows = nvidia.ask(*FIELDS, run=program(TWO_GPUS))
    assert "".join(row["index"] for row in rows) == indices


@pytest.mark.parametrize(
    "answer",
    [
        {"error": FileNotFoundError()},
        {"error": subprocess.TimeoutExpired("nvidia-smi", 10)},
        {"error": subprocess.CalledProcessError(9, "nvidia-smi")},
        {"output": "No devices were found"},
        {"output": ""},
    ],
)
def test_a_driver_that_does_not_answer_means_no_gpu_and_no_error(answer):
    assert nvidia.describe(nvidia.ask(*FIELDS, run=program(**answer))) == ((), "")


def test_gpus_are_part_of_the_name(monkeypatch):
    monkeypatch.setattr(nvidia, "_asked", lambda: ((H200, H200), "570.86.15"))
    here = machine.this_machine()
    assert here.name.endswith(", 2 x NVIDIA H200")
    assert (here.gpus, here.driver) == ((H200, H200), "570.86.15")
    assert records.from_json(records.to_json(here)) == here


def test_without_a_driver_to_ask_a_running_torch_knows_its_gpus():
    seen = types.SimpleNamespace(name="NVIDIA H200", total_memory=150 * 10**9)
    cuda = types.SimpleNamespace(
        is_initialized=lambda: True, device_count=lambda: 1, get_device_properties=lambda i: seen
    )
    torch = types.SimpleNamespace(cuda=cuda)
    assert nvidia._seen_by_torch(torch) == (Gpu("NVIDIA H200", 150 * 10**9),)
    cuda.is_initialized = lambda: False  # asking would start it
    assert nvidia._seen_by_torch(torch) == ()
    assert nvidia._seen_by_torch(None) == ()


def test_the_cuda_version_is_read_where_torch_wrote_it(tmp_path, monkeypatch):
    (tmp_path / "version.py").write_text(
        "cuda: Optional[str] = '13.0'\nhip: Optional[str] = None\n"
    )
    spec = types.SimpleNamespace(origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(machine.util, "find_spec", lambda name: spec)
    assert machine._cuda.__wrapped__() == "13.0"
    (tmp_path / "version.py").write_text("cuda: Optional[str] = None\n")
    assert machine._cuda.__wrapped__() == ""
    monkeypatch.setattr(machine.util, "find_spec", lambda name: None)
    assert machine._cuda.__wrapped__() == ""


def test_the_driver_is_asked_once_in_the_life_of_a_process(monkeypatch):
    """It takes longer than everything else together, and a timer asks with every sample."""
    asked = []
    monkeypatch.setattr(nvidia, "ask", lambda *fields: asked.append(fields) or [])
    nvidia._asked.cache_clear()
    machine.this_machine()
    machine.this_machine()
    nvidia._asked.cache_clear()
    assert asked == [FIELDS]


@pytest.mark.gpu
@pytest.mark.skipif(not nvidia.ask(), reason="no GPU")
def test_a_real_gpu_is_found_and_named():
    import torch

    here = machine.this_machine()
    assert here.gpus
    assert here.gpus[0].memory > 2**30
    assert here.driver
    assert here.cuda == (torch.version.cuda or "")
    assert here.gpus[0].name in here.name
