"""Numbers and causes are found in what a program wrote, however much and whatever that is."""

import random
import re
import tracemalloc

import pytest
from hypothesis import given, settings, strategies as st

from scalelab.measure.commands import reading
from scalelab.measure.commands.process import Ended
from scalelab.refusal import Refusal

RATE = re.compile(r"rate[:=] *(\S+)")


@pytest.fixture
def log(tmp_path):
    return tmp_path / "log"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("rate: 12.5", 12.5),
        ("rate: 1\nrate: 2\nelse", 2),
        ("rate: 1 rate: 3", 3),
        ("rate: 1\rrate: 2\r", 2),
        ("rate= 1,234,567.5", 1234567.5),
        ("rate: -1e3\r\n", -1000),
        ("rate: 12.5, and on", 12.5),
        ("rate: \x1b[1m12.5\x1b[0m items/s", 12.5),
    ],
)
def test_the_last_match_counts(text, number, log):
    log.write_text(text)
    assert reading.last(log, RATE) == number


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "nothing in its output matches"),
        ("throughput 3", "nothing in its output matches"),
        ("rate: fast", "found 'fast', which is no finite number"),
        ("rate: nan", "no finite number"),
        ("rate: inf", "no finite number"),
        ("rate: 1\nrate: 1,2", "found '1,2'"),
    ],
)
def test_where_there_is_no_number_the_reason_is_said(text, word, log):
    log.write_text(text)
    assert word in reading.last(log, RATE)


@pytest.mark.parametrize(
    ("pattern", "text", "whole"),
    [
        ("rate: ([0-9.]+)", "rate: 1,234.5 items/s", "1,234.5"),
        ("rate: ([0-9.]+)", "rate: 1.2k items/s", "1.2k"),
        ("rate: ([0-9.]+)", "rate: 12.5GB/s", "12.5GB"),
        ("rate: ([0-9.]+)", "rate: 1.2e3 items/s", "1.2e3"),
        ("rate: ([0-9.]+)", "rate: 123,4 items/s", "123,4"),
        ("rate: ([0-9.]+).* items", "rate: 1,234 items/s", "1,234"),
        (r"rate: (\d+)", "rate: 2.5", "2.5"),
        ("rate.*([0-9.]+)", "rate: 1234", "1234"),
        ("loss: -?([0-9.]+)", "loss: -0.5", "-0.5"),
    ],
)
def test_a_part_of_a_number_is_no_number(pattern, text, whole, log):
    log.write_text(text)
    said = reading.last(log, re.compile(pattern))
    assert said.startswith(f"'{pattern}' takes only a part of '{whole}': write ")


@pytest.mark.parametrize(
    ("pattern", "text", "number"),
    [
        ("rate: ([0-9.]+)", "rate: 12.5 GB/s", 12.5),
        ("rate: ([0-9.]+)", "rate: 980 items/s, or so", 980),
        ("rate: ([0-9.]+)", "rate: 12.5.", 12.5),
        ("rate: ([0-9.]+)", "rate: 12Tasks", 12),
        ("rate: ([0-9.,]+)", "rate: 1,234.5items", 1234.5),
        ("rate: ([0-9.]+)GB", "rate: 12.5GB/s", 12.5),
        ("^([0-9.]+),", "1.5,2.5", 1.5),
        ("rate: ([0-9]+)", "rate: 5-6", 5),
    ],
)
def test_what_goes_on_behind_a_number_may_be_something_else(pattern, text, number, log):
    log.write_text(text)
    assert reading.last(log, re.compile(pattern)) == number


def test_two_numbers_of_one_match_are_not_chosen_from(log):
    log.write_text("put 1.5 of 2.5")
    said = reading.last(log, re.compile(r"put (\S+) of (\S+)"))
    assert said.startswith(r"'put (\S+) of (\S+)' finds '1.5' and '2.5' at once: ")
    assert reading.last(log, re.compile(r"put ((\d)\.\d)")) == 1.5


def test_a_cause_is_without_the_codes_of_a_terminal(log):
    log.write_bytes(b"\x1b[31mError: no \x1b]0;title\x07luck\x1b[0m\n")
    assert reading.cause(Ended(1.0, 1), log, None) == "exit code 1: Error: no luck"


def test_the_first_group_that_took_part_is_the_number(log):
    log.write_text("b 2")
    assert reading.last(log, re.compile(r"a (\d)|b (\d)")) == 2
    assert (
        reading.last(log, re.compile(r"b (3)?")) == "'b (3)?' found '', which is no finite number"
    )


def test_bytes_that_are_no_text_are_passed_over(log):
    log.write_bytes(random.Random(1).randbytes(100_000) + b"\nrate: 5\n" + bytes(range(128, 256)))
    assert reading.last(log, RATE) == 5


def test_a_log_of_any_size_is_never_in_memory_whole(log):
    """Neither as many lines nor as one."""
    with log.open("w") as file:
        for _ in range(64):
            file.write("x" * 2**20)
        file.write("\nrate: 7\n")
    tracemalloc.start()
    assert reading.last(log, RATE) == 7
    reading.trim(log)
    reading.cause(Ended(1.0, 1), log, None)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 8 * 2**20
    kept = log.read_bytes()
    assert kept.endswith(b"x\nrate: 7\n")
    assert b"bytes left out" in kept
    assert len(kept) < 2 * 2**20


def test_a_short_log_is_left_alone(log):
    log.write_text("short\n")
    reading.trim(log)
    assert log.read_text() == "short\n"


@pytest.mark.parametrize(
    ("ended", "text", "said"),
    [
        (Ended(1.0), "all Errors are forgiven", ""),
        (Ended(1.0, 3), "", "exit code 3"),
        (Ended(1.0, 1), "a\nValueError: no\n=====\n", "exit code 1: ValueError: no"),
        (Ended(1.0, 2), "usage: solve\n\n", "exit code 2: usage: solve"),
        (Ended(1.0, -11), "", "ended by SIGSEGV"),
        (Ended(1.0, 139), "", "ended by SIGSEGV"),
        (Ended(1.0, 255), "", "exit code 255"),
        (Ended(1.0, -9), "", "ended by SIGKILL, as systems do where memory runs out"),
        (Ended(1.0, 137), "", "ended by SIGKILL, as systems do where memory runs out"),
        (
            Ended(1.0, 1),
            "torch.OutOfMemoryError: CUDA out of memory. Tried ...",
            "out of memory (exit code 1)",
        ),
        (Ended(1.0, -6), "terminate: std::bad_alloc", "out of memory (ended by SIGABRT)"),
        (Ended(9.0, -15, "timeout"), "Error", "no end within 9 s"),
        (Ended(9.0, -15, "output"), "Error", "more than 1024 MiB of output"),
        (
            Ended(0.0, unstarted="Exec format error"),
            "",
            "it could not be started (Exec format error)",
        ),
    ],
)
def test_a_failure_is_told_by_its_cause(ended, text, said, log):
    log.write_text(text)
    assert reading.cause(ended, log, 9.0) == said


TORCHRUN = """[rank1]: RuntimeError: the first
[rank0]: RuntimeError: Connection closed by peer
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
Root Cause (first observed failure):
[0]:
  time      : 2026-11-23_22:58:07
  host      : localhost
  rank      : {rank} (local_rank: {rank})
  exitcode  : {code} (pid: 30792)
"""


@pytest.mark.parametrize(
    ("rank", "code", "said"),
    [
        (1, 1, "exit code 1 on rank 1: RuntimeError: the first"),
        (2, -9, "ended by SIGKILL on rank 2, as systems do where memory runs out"),
    ],
)
def test_of_a_torchrun_the_rank_that_failed_first_is_told(rank, code, said, log):
    log.write_text(TORCHRUN.format(rank=rank, code=code))
    assert reading.cause(Ended(1.0, 1), log, None) == said


@pytest.mark.parametrize("text", ["(", "[", "*", "a{9999999999}", "rate"])
def test_a_pattern_that_finds_no_number_is_refused(text):
    with pytest.raises(Refusal, match=r"--rate must .* write it like 'samples/s: \(\\S\+\)'"):
        reading.pattern("--rate", text)


@settings(max_examples=50)
@given(st.binary(max_size=300), st.integers(-64, 255))
def test_any_output_has_a_cause_on_one_line(tmp_path_factory, content, code):
    log = tmp_path_factory.mktemp("any") / "log"
    log.write_bytes(content)
    said = reading.cause(Ended(1.0, code), log, None)
    assert (said == "") == (code == 0)
    assert len(said.splitlines()) <= 1
    assert isinstance(reading.last(log, RATE), (float, str))
