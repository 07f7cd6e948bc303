"""The reader of plan files: units, defaults, and one sentence for whatever is wrong."""

import copy
import gzip
import json
import re
import tomllib

import pytest
from hypothesis import given, settings, strategies as st

from scalelab.plan import file, plan, text as plan_text
from scalelab.refusal import Refusal
from tests.plan.test_plan import TINY

SENTENCE = re.compile(r"[^\n]+ must [^\n]+, got [^\n]+: [^\n]+")
EXAMPLE = file.example()


def refused(path, value):
    """Return the sentence for the tiny job with one value, given by its dotted path."""
    told = copy.deepcopy(TINY)
    table, _, key = path.partition(".")
    told.setdefault(table, {})[key] = value
    with pytest.raises(ValueError, match=" must ") as caught:
        file.described(told, "my.toml")
    assert SENTENCE.fullmatch(str(caught.value))
    return str(caught.value)


def test_the_example_shows_every_key_there_is():
    """Commented or not: an engineer deletes lines, and looks up nothing."""
    shown = {}
    for line in EXAMPLE.splitlines():
        if heading := re.match(r"\[(\w+)\]", line):
            shown[heading[1]] = set()
        elif key := re.match(r"(?:# )?(\w+) = ", line):
            shown[list(shown)[-1]].add(key[1])
    assert {name: set(keys) for name, keys in file.KEYS.items()} == shown


def test_what_the_example_comments_out_is_valid_too():
    """With every line live, but one of two ways to give the batch."""
    job = file.parse(re.sub(r"(?m)^tensor = 1.*$", "tensor = 2", LIVE))
    assert job.layout.tensor == 2
    assert job.cluster.idle_power == 100
    assert job.goal.budget == 500_000


def test_json_and_toml_say_the_same():
    told = tomllib.loads(EXAMPLE)
    assert file.parse(json.dumps(told), "plan.json").shape == file.parse(EXAMPLE).shape
    assert file.parse(json.dumps(told), "x.json").goal == file.parse(EXAMPLE).goal


@pytest.mark.parametrize(
    ("path", "same"),
    [
        ("cluster.outside", ["400 Gbit/s", "50 GB/s", 50e9, "0.05 TB/s"]),
        ("cluster.memory", ["80 GB", 80e9, "80,000 MB"]),
        ("goal.deadline", ["30 d", 30 * 86400, "720 h"]),
        ("goal.tokens", ["1.5T", 1.5e12, "1500B", 1_500_000_000_000]),
        ("layout.overlap", ["90%", 0.9]),
        ("cluster.peak", ["989 TFLOP/s", 989e12]),
    ],
)
def test_a_unit_changes_how_a_value_is_written_and_not_what_it_is(path, same):
    table, _, key = path.partition(".")
    jobs = []
    for value in same:
        told = copy.deepcopy(TINY)
        told[table][key] = value
        jobs.append(file.described(told))
    assert all(one == jobs[0] for one in jobs)


@given(st.floats(1e-3, 1e9), st.sampled_from([("s", 1), ("min", 60), ("h", 3600), ("d", 86400)]))
def test_a_time_is_its_number_times_its_unit(number, unit):
    name, factor = unit
    told = copy.deepcopy(TINY)
    told["goal"]["deadline"] = f"{number!r} {name}"
    deadline = file.described(told).goal.deadline if number * factor <= 1e12 else None
    if deadline is not None:
        assert deadline == pytest.approx(number * factor)


def test_tokens_of_a_batch_become_whole_sequences():
    told = copy.deepcopy(TINY)
    del told["training"]["batch"]
    told["training"]["batch_tokens"] = "1M"
    assert file.described(told).batch == round(1e6 / 1024)


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        (
            "model.layer",
            3,
            "my.toml: model must hold keys that are known, got 'layer': did you mean layers?",
        ),
        ("cluster.prise", 2, "did you mean price?"),
        (
            "moddel.layers",
            3,
            "my.toml must hold tables that are known, got 'moddel': did you mean model?",
        ),
        (
            "model.layers",
            "many",
            "my.toml: model.layers must be a whole number from 1 to 10000, got 'many'",
        ),
        ("model.layers", 2.5, "model.layers must be a whole number"),
        ("model.layers", True, "model.layers must be a whole number"),
        ("model.gated", "yes", "model.gated must be true or false, got 'yes'"),
        ("model.heads", 3, "heads must divide hidden"),
        (
            "model.parameters",
            "70B",
            "model.parameters must agree with the shape, which makes 1.33e+08",
        ),
        ("training.precision", "fp16", "did you mean"),
        ("training.batch_tokens", "1M", "got both"),
        ("training.format", "fp8 tensor", "must be one that A100 SXM 40GB has"),
        ("layout.tensor", 3, "must divide the 16 heads"),
        ("layout.pipeline", 16, "must leave a layer for each stage"),
        ("layout.overlap", 1.5, "layout.overlap must be"),
        ("cluster.node", "DGX H10", "did you mean DGX H100?"),
        ("cluster.outside", "400 Gbit", "bytes per second such as '50 GB/s' or '400 Gbit/s'"),
        ("cluster.memory", "80 s", "cluster.memory must be bytes such as '80 GB'"),
        ("cluster.sizes", [0], "cluster.sizes[0] must be a whole number"),
        ("cluster.sizes", [128], "must be at most cluster.largest, 64"),
        ("cluster.idle_power", 500, "must be at most the power at work, 400 W"),
        ("cluster.price", float("nan"), "cluster.price must be"),
        ("goal.tokens", "20 billion", "a number such as 7e9 or '7B'"),
        ("goal.aim", "best", "cheapest, fastest"),
    ],
)
def test_a_mistake_is_named_by_its_path_with_what_to_do(path, value, expected):
    assert expected in refused(path, value)


@pytest.mark.parametrize(
    ("table", "key", "expected"),
    [
        ("model", "layers", "model.layers must be given"),
        (
            "training",
            "batch",
            "training.batch must be given, or else training.batch_tokens, got neither",
        ),
        ("cluster", "node", "cluster.peak must be given"),
        ("cluster", "largest", "cluster.largest must be given"),
    ],
)
def test_what_is_missing_is_named(table, key, expected):
    told = copy.deepcopy(TINY)
    del told[table][key]
    with pytest.raises(ValueError, match=re.escape(expected)):
        file.described(told)


def test_limits_want_what_they_limit():
    told = copy.deepcopy(TINY)
    told["goal"] = {"deadline": "1 d"}
    with pytest.raises(ValueError, match=r"goal.tokens must be given with goal.deadline"):
        file.described(told)
    told["goal"] = {"budget": 5, "tokens": 5}
    del told["cluster"]["price"]
    with pytest.raises(ValueError, match=r"cluster.price must be given with goal.budget"):
        file.described(told)


@pytest.mark.parametrize(
    ("raw", "name", "expected"),
    [
        (b"", "a.toml", "a.toml must have a table model, got none"),
        (b"[model\n", "a.toml", "a.toml must be TOML, got a fault (Expected"),
        (b"{", "a.json", "a.json must be JSON, got a fault (Expecting"),
        (b"[1]", "a.json", "a.json must hold tables"),
        (b"a\xff", "a.toml", "a.toml byte 2 must be UTF-8 text"),
        (b"[" * 100_000, "a.json", "brackets in brackets"),
        (b"a = " + b"[" * 100_000, "a.toml", "brackets in brackets"),
        (b"model = 1", "a.toml", "a.toml must have a table training"),
        (
            b'{"model": {"layers": NaN}, "training": {}, "cluster": {}}',
            "a.json",
            "model.layers must be",
        ),
        (b'{"model": {"layers": 1' + b"0" * 5000 + b"}}", "a.json", "a.json must be JSON"),
    ],
)
def test_what_is_no_plan_is_refused_in_one_sentence(raw, name, expected):
    with pytest.raises(ValueError, match=re.escape(expected)) as caught:
        file.parse(raw, name)
    assert SENTENCE.fullmatch(str(caught.value))


def test_a_file_is_read_as_every_other_of_the_package(tmp_path):
    """Unpacked if it is packed, up to a size, and with a way out if there is none."""
    packed = tmp_path / "plan.toml"
    packed.write_bytes(gzip.compress(EXAMPLE.encode()))
    assert file.read(packed) == file.parse(EXAMPLE)
    packed.write_bytes(gzip.compress(b"#" * (file.MOST_BYTES + 1)))
    with pytest.raises(Refusal, match="must hold at most 1 MiB"):
        file.read(packed)
    with pytest.raises(Refusal, match=r"No such file.+--example > plan.toml writes one"):
        file.read(tmp_path / "none.toml")


def test_a_mark_at_the_beginning_of_a_file_does_no_harm():
    assert file.parse(b"\xef\xbb\xbf" + EXAMPLE.encode()) == file.parse(EXAMPLE)


def planned_or_refused(raw, name):
    """Read and plan; the only other way out is one sentence. Returns whether it was a plan."""
    try:
        job = file.parse(raw, name)
        found = plan.plan(job)
    except ValueError as error:
        assert SENTENCE.fullmatch(str(error)), error  # noqa: PT017 - either outcome is fine
        return False
    json.dumps(plan_text.document(found), allow_nan=False)
    return True


SMALL = (
    EXAMPLE.replace("largest = 1024", "largest = 16").replace("[48, 96, 192]", "[4, 6]").encode()
)
JUNK = st.sampled_from(
    [
        *("0", "-1", "3", "0.0", "1e15", "1e308", "1e-300", "nan", "inf", "-inf", "0x10"),
        *("true", '""', '"x"', '"7Q"', '"∞"', '"1e999 s"', "[]", "[1, 2]", "{}", "1979-05-27"),
        "99999999999999999999",
    ]
)
# Every key live, but one of the two ways to give the batch.
LIVE = re.sub(r"(?m)^# (?=\w+ = )(?!batch =)", "", SMALL.decode())


def test_the_files_that_get_mutated_are_plans():
    """Or the tests below would only see refusals."""
    assert planned_or_refused(SMALL, "plan.toml")
    assert planned_or_refused(LIVE, "plan.toml")


CUTS = st.lists(
    st.tuples(st.integers(0, len(SMALL)), st.integers(0, 3), st.binary(max_size=3)),
    min_size=1,
    max_size=4,
)


@settings(max_examples=30)
@given(CUTS)
def test_mutated_bytes_of_the_example_give_a_plan_or_a_sentence(cuts):
    mutated(cuts)


@pytest.mark.thorough
@given(CUTS)
def test_many_more_mutated_bytes_give_a_plan_or_a_sentence(cuts):
    mutated(cuts)


def mutated(cuts):
    raw = SMALL
    for start, length, put in cuts:
        raw = raw[:start] + put + raw[start + length :]
    planned_or_refused(raw, "plan.toml")


@given(data=st.data())
def test_any_junk_for_any_key_gives_a_plan_or_a_sentence(data):
    lines = LIVE.splitlines()
    keys = [i for i, line in enumerate(lines) if re.match(r"\w+ = ", line)]
    for i in data.draw(st.lists(st.sampled_from(keys), min_size=1, max_size=3)):
        lines[i] = lines[i].split(" = ")[0] + " = " + data.draw(JUNK)
    planned_or_refused("\n".join(lines), "plan.toml")


@given(data=st.data())
def test_odd_but_legal_numbers_give_a_plan_or_a_sentence(data):
    told = copy.deepcopy(TINY)
    told["cluster"]["largest"] = 4
    numeric = [
        (name, key, field)
        for name, table in file.KEYS.items()
        for key, field in table.items()
        if field.kind not in ("text", "flag", "sizes") and key != "parameters"
    ]
    for name, key, field in data.draw(st.lists(st.sampled_from(numeric), min_size=1, max_size=4)):
        low, high = field.low, min(field.high, 1024 if key == "largest" else field.high)
        edge = [low or (1e-9 if field.above else 0), high, (low + 1) * 1.5]
        value = data.draw(st.sampled_from(edge))
        told[name][key] = int(value) if field.kind == "whole" else value
    planned_or_refused(json.dumps(told), "plan.json")
