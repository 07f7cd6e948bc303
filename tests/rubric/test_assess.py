"""Assessing a capstone: what is missing in the record, and what a claim cannot rest on."""

import dataclasses
import json

import pytest
from hypothesis import given, strategies as st

from scalelab import records
from scalelab.records import Passes
from scalelab.rubric import rubric
from scalelab.rubric.assess import CLAIMS, assess
from tests.measure.capstone.test_one_pass import HOST, one

SECONDS = {1: 60.0, 2: 31.0, 4: 16.5, 8: 12.0}


def capstone(quality=(0.90, 0.901, 0.899), degraded=0.0, sizes=SECONDS, **changes):
    """A study of three seeds and four sizes, on a machine with enough cores."""
    host = dataclasses.replace(HOST, cores=8)
    passes = [
        one(
            k, t * (1 + seed / 1000), q - degraded * (k == 8), seed=seed,
            **{"machine": host, "joules": 100.0 * k * t, **changes},
        )
        for k, t in sizes.items()
        for seed, q in enumerate(quality)
    ]  # fmt: skip
    return Passes("capstone", tuple(passes))


def claim(workers, report, **changes):
    row = report.row(workers)
    return {"workers": workers, **{name: getattr(row, name) for name in CLAIMS}, **changes}


SOUND = assess(capstone())


def test_a_complete_capstone_has_nothing_wrong():
    assert SOUND.names() == []
    assert SOUND.report.recommended == 4


def test_a_claim_that_says_what_the_record_says_is_supported():
    said = claim(4, SOUND.report)
    rounded = {name: float(f"{value:.2g}") for name, value in said.items() if name != "workers"}
    assert assess(capstone(), said).names() == []
    assert assess(capstone(), {"workers": 4} | rounded).names() == []


@pytest.mark.parametrize("name", CLAIMS)
def test_each_number_of_a_claim_is_recomputed(name):
    wrong = claim(4, SOUND.report) | {name: getattr(SOUND.report.row(4), name) * 1.1}
    assert assess(capstone(), wrong).names("error") == [f"claim_{name}"]


def test_the_hero_number_is_named_with_the_limit_it_breaks():
    found = assess(capstone(), claim(8, SOUND.report))
    assert found.names("error") == ["claim_limits"]
    assert "floor" in found.findings[0].text


def test_a_claim_of_a_degraded_row_is_named():
    found = assess(capstone(degraded=0.05), claim(8, SOUND.report, quality=0.85))
    assert "claim_gate" in found.names("error")
    assert "gate_failed" in found.names("note")


def test_a_claim_that_noise_leaves_open_is_named():
    """Seeds that disagree on whether four workers lose anything."""
    steady = capstone(sizes={1: 60.0, 2: 31.0}).passes
    noisy = Passes("noisy", steady + capstone((0.80, 0.90, 0.95), sizes={4: 16.5}).passes)
    found = assess(noisy, {"workers": 4, "speedup": 60 / 16.5})
    assert "claim_gate" in found.names("error")
    assert "undecided" in next(f.text for f in found.findings if f.name == "claim_gate")


def test_a_cause_that_the_rows_do_not_tell_is_named():
    cause = SOUND.report.shortfall.cause
    assert assess(capstone(), claim(4, SOUND.report, cause=cause)).names() == []
    other = "serial" if cause != "serial" else "communication"
    assert assess(capstone(), claim(4, SOUND.report, cause=other)).names("error") == ["claim_cause"]


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ({"workers": 64}, "claim_unmeasured"),
        ({}, "claim_unmeasured"),
        ({"workers": "8"}, "claim_unmeasured"),
        ("eight", "claim_unreadable"),
        ({"workers": 4, "speedup": "fast"}, "claim_speedup"),
        ({"workers": 4, "speedup": None}, "claim_speedup"),
    ],
)
def test_a_claim_about_nothing_measured_is_named(said, name):
    assert name in assess(capstone(), said).names("error")


def test_what_a_claim_says_is_quoted_as_it_stands():
    found = assess(capstone(), {"workers": 4, "cause": "a..b"})
    (wall,) = (one for one in found.findings if one.name == "claim_cause")
    assert "'a..b'" in wall.text


def test_a_claim_of_one_number_is_asked_for_the_tuple():
    found = assess(capstone(), {"workers": 4, "speedup": 60 / 16.5})
    assert found.names() == ["claim_partial"]
    assert found.names("error") == []


def test_energy_that_was_not_measured_cannot_be_claimed():
    found = assess(capstone(joules=None), {"workers": 4, "joules_per_work": 5.0})
    assert "claim_joules_per_work" in found.names("error")
    assert "no_energy" in found.names("note")


def changed(passes, index, **changes):
    listed = list(passes.passes)
    listed[index] = dataclasses.replace(listed[index], **changes)
    return dataclasses.replace(passes, passes=tuple(listed))


def test_an_edited_time_is_found_and_placed():
    found = assess(changed(capstone(), 5, seconds=20.0))
    assert found.findings[0].name == "edited"
    assert found.findings[0].rows == (6,)
    assert found.report is None


def test_a_copied_pass_is_found_even_with_a_new_seal():
    passes = capstone()
    copy = dataclasses.replace(passes.passes[0], seed=9, seal="")
    copy = dataclasses.replace(copy, seal=copy.digest)
    found = assess(dataclasses.replace(passes, passes=(*passes.passes, copy)))
    assert "copied" in found.names("error")


@pytest.mark.parametrize(
    ("passes", "name"),
    [
        (capstone(sizes={2: 31.0, 4: 16.5, 8: 12.0}), "no_baseline"),
        (capstone(sizes={1: 60.0, 2: 31.0}), "few_sizes"),
        (capstone(quality=(0.9,)), "few_seeds"),
        (capstone(work=None), "no_work"),
        (capstone(machine=HOST), "crowded"),
        (capstone(sizes={1: 60.0, 2: 20.0, 4: 10.0}), "superlinear"),
    ],
)
def test_what_weakens_a_study_is_named_and_does_not_stop_it(passes, name):
    found = assess(passes)
    assert name in found.names()
    assert found.names("error") == []
    assert found.report is not None


def test_what_weakens_a_study_is_told_in_words():
    host = dataclasses.replace(HOST, cores=2)
    few = {f.name: f.text for f in assess(capstone(machine=host, quality=(0.9,))).findings}
    assert few["crowded"].startswith("On 2 cores, 4 and 8 workers took turns")
    assert few["few_seeds"].startswith("1 seed cannot tell")


def test_a_study_of_two_configurations_is_named_by_the_field():
    mixed = capstone().passes + capstone(configuration={"width": 9}).passes
    found = assess(Passes("two", mixed))
    assert "mixed" in found.names("error")
    assert "'width'" in next(f.text for f in found.findings if f.name == "mixed")


def test_text_dictionary_and_record_are_assessed_alike():
    text = records.to_json(capstone())
    assert assess(text).names() == assess(json.loads(text)).names() == []


@pytest.mark.parametrize("junk", [None, 3, "", "{}", "[]", {}, {"record": "Passes"}, [], {1: {2}}])
def test_what_is_no_record_is_one_finding(junk):
    found = assess(junk)
    assert found.names("error") == ["unreadable"]
    assert found.findings[0].remedy


JUNK = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)  # fmt: skip
TREE = json.loads(records.to_json(capstone(sizes={1: 60.0, 2: 31.0})))


@given(st.data())
def test_nothing_in_a_submission_or_its_claim_makes_the_assessment_fail(data):
    tree = json.loads(json.dumps(TREE))
    target = data.draw(st.sampled_from([tree, *tree["passes"]]))
    if data.draw(st.booleans()):
        target[data.draw(st.sampled_from(sorted(target)))] = data.draw(JUNK)
    names = st.sampled_from(["workers", "cause", *CLAIMS, "other"])
    said = data.draw(st.dictionaries(names, JUNK | st.sampled_from([1, 2]), max_size=4) | JUNK)
    found = assess(tree, said)
    assert all(one.text and one.remedy for one in found.findings)
    assert found.report is not None or found.names("error")


def test_limits_reach_the_judge():
    found = assess(capstone(), None, rubric.Constraints(floor=0.5))
    assert found.report.recommended == 8
