"""What measurements leave behind, and what files keep of it."""

import json
import math
import statistics

import pytest

from scalelab import data, ranks, records
from scalelab.records import Machine, Recording, Sample, Stamp
from scalelab.refusal import Refusal

LAPTOP = Machine("laptop, 4 cores", cores=4, memory=8 * 10**9, caches={"L2": 2**20}, torch="2.13.0")
SAMPLE = Sample("a step", (0.3, 0.1, 0.2), 8, LAPTOP, "2025-11-20", given={"workers": 2.0})


@pytest.mark.parametrize("record", [LAPTOP, SAMPLE, Recording("two", (SAMPLE, SAMPLE), "a note")])
def test_a_record_survives_the_file(record):
    assert records.from_json(records.to_json(record)) == record


def test_whoever_reads_a_file_did_not_measure_it():
    assert SAMPLE.stamp.kind == "measured here"
    assert records.from_json(records.to_json(SAMPLE)).stamp.kind == "recorded"


def test_a_later_version_with_more_fields_is_still_read():
    text = json.loads(records.to_json(SAMPLE))
    text["version"] = records.VERSION + 1
    text["joules"] = [1, 2, 3]
    text["machine"]["gpu"] = "H200"
    assert records.from_json(json.dumps(text)) == SAMPLE


def test_an_earlier_version_without_optional_fields_is_still_read():
    text = json.loads(records.to_json(SAMPLE))
    for name in ("stopped", "advice", "given"):
        del text[name]
    assert records.from_json(json.dumps(text)).seconds == SAMPLE.seconds


def test_a_caution_of_version_1_is_its_sentence():
    text = json.loads(records.to_json(SAMPLE)) | {"advice": ["Only 3 repetitions.", "Close it."]}
    kept = records.from_json(json.dumps(text)).advice
    assert [caution.text for caution in kept] == ["Only 3 repetitions.", "Close it."]
    assert len({caution.name for caution in kept}) == 2, "nobody knows that they are one case"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "5",
        "null",
        "[]",
        '{"record": "Pickle"}',
        '{"record": "Sample", "label": "no more"}',
        '{"record": "Machine", "name": 5, "cores": 2}',
        '{"record": "Machine", "name": "m", "cores": true}',
        '{"record": "Machine", "name": "m", "cores": 0}',
        '{"record": "Recording", "title": "t", "samples": [3]}',
        '{"record": "Recording", "title": "t", "samples": "abc"}',
        "[" * 10**5,
        None,
    ],
)
def test_a_file_of_something_else_is_refused_in_one_sentence(text):
    with pytest.raises(ValueError, match=r" must .*, got .*: ") as error:
        records.from_json(text)
    assert "\n" not in str(error.value)


def test_only_records_are_written():
    with pytest.raises(Refusal, match="record must be one of Machine, Sample, Split, Recording"):
        records.to_json({"seconds": [1]})


@pytest.mark.parametrize(
    "seconds", [(), (0.0,), (-1.0,), (math.nan,), (math.inf,), ("1",), (True,)]
)
def test_a_sample_holds_only_times_that_can_have_been(seconds):
    with pytest.raises(ValueError, match="seconds must be positive finite numbers"):
        Sample("bad", seconds, 1, LAPTOP, "2025-11-20")


def test_a_sample_knows_its_median_and_how_sure_it_is():
    seconds = tuple(float(s) for s in range(1, 21))
    sample = Sample("twenty", seconds, 1, LAPTOP, "2025-11-20")
    assert sample.median == statistics.median(seconds)
    assert (sample.low, sample.high) == (6, 15)
    assert sample.coverage >= 0.95


def test_few_repetitions_give_the_range_and_say_what_it_is_worth():
    assert (SAMPLE.low, SAMPLE.high) == (0.1, 0.3)
    assert SAMPLE.coverage == 0.75
    assert Sample("once", (1.0,), 1, LAPTOP, "2025-11-20").coverage == 0


def test_the_four_stamps_say_where_a_number_comes_from():
    here = Stamp("measured here", LAPTOP, "2025-11-20")
    assert here.text == "measured here · laptop, 4 cores · 2025-11-20"
    recorded = Stamp("recorded", LAPTOP, "2025-11-20", "quiet night")
    assert recorded.text == "recorded · laptop, 4 cores, torch 2.13.0 · 2025-11-20 · quiet night"
    assert Stamp("published", note="data sheets").text == "published · data sheets"
    assert Stamp("model").text == "model · no measurement"
    fed = Stamp("model", note="from the rate measured above")
    assert fed.text == "model · from the rate measured above"


@pytest.mark.parametrize(
    ("kind", "machine"),
    [("guessed", None), ("model", LAPTOP), ("recorded", None), ("published", None)],
)
def test_a_stamp_that_contradicts_itself_is_refused(kind, machine):
    with pytest.raises(ValueError, match=r" must .*, got .*: "):
        Stamp(kind, machine)


@pytest.mark.parametrize("n", [1, 2, 5, 6, 7, 20, 101, 1000, 1001, 5000])
def test_ranks_are_the_narrowest_that_reach_the_level(n):
    """Compare with exact integer arithmetic over all outcomes of n coin tosses."""

    def exact(i):
        below, ways = 0, 1  # ways to choose k of n, each from the one before
        for k in range(i):
            below, ways = below + ways, ways * (n - k) // (k + 1)
        return 1 - 2 * below / 2**n if 2 * i <= n else 0.0

    i, coverage = ranks.narrowest(n)
    assert coverage == pytest.approx(exact(i), abs=1e-9)
    if n >= 6:
        assert exact(i) >= 0.95 > exact(i + 1)
    else:
        assert i == 1


@pytest.mark.parametrize(("n", "level"), [(0, 0.95), (2.5, 0.95), (True, 0.9), (9, 1), (9, None)])
def test_ranks_of_impossible_samples_are_refused(n, level):
    with pytest.raises(ValueError, match=r" must be .*, got .*: "):
        ranks.narrowest(n, level)


def test_the_recorded_superlinear_run_is_superlinear_where_the_halves_fit_the_cache():
    """The claim of the chapter, from the numbers in the file, with the machine's own cache size."""
    run = data.recorded("superlinear")
    times = {(s.given["size"], s.given["workers"]): s for s in run.samples}
    level = run.samples[0].machine.caches["L2"]
    for factor, superlinear in ((9 / 8, True), (4, False)):
        whole, halves = (times[level * factor, workers] for workers in (1, 2))
        # Even the pessimistic end of both intervals agrees.
        assert (whole.low / halves.high / 2 > 1) == superlinear
    assert all(s.stamp.kind == "recorded" and s.machine.torch and s.date for s in run.samples)


def test_an_unknown_recording_is_answered_with_the_known_ones():
    with pytest.raises(ValueError, match=r"name must be one of .*superlinear.*, got 'moon'"):
        data.recorded("moon")
