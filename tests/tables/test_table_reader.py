"""Scaling tables as people keep them: read, or refused by file, row and column."""

import csv
import dataclasses
import io
import json
import math
import random
import re

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from scalelab import records
from scalelab.data import datasets
from scalelab.tables import table
from tests.models.test_bad_input import SENTENCE
from tests.notebooks import ROOT

SERIES = [datasets.load(n) for n in datasets.names()]
TABLES = [s for s in SERIES if s.seconds or s.throughput]


@pytest.fixture
def read(tmp_path):
    def of(content, name="runs.csv"):
        file = tmp_path / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return table.read(file)

    return of


@pytest.fixture
def refuse(read):
    """Return the sentence, and check that it is one."""

    def of(content, name="runs.csv"):
        with pytest.raises(ValueError, match="must") as caught:
            read(content, name)
        assert SENTENCE.fullmatch(str(caught.value)), caught.value
        return str(caught.value)

    return of


def pairs(found):
    return list(zip(found.workers, found.values, strict=True))


def test_the_columns_of_a_scaling_table_are_read_as_they_are(read):
    found = read(
        "workers,seconds,work,quality,rate,joules,run\n1,60,100,0.76,2.5,900,a\n2,31,100,0.75,5,950,b\n"
    )
    assert pairs(found) == [(1, 60), (2, 31)]
    one = found.rows[1]
    assert (one.work, one.quality, one.rate, one.joules, one.run) == (100, 0.75, 5, 950, "b")
    assert one.line == 3


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("time (ms)", 0.09),
        ("time_ms", 0.09),
        ("Wall time [min]", 5400),
        ("elapsed", 90),
        ("step time in us", 9e-5),
        ("T(K)", 90),
        ("hours", 324000),
        ("ms/step", 0.09),
        ("**Duration (s)**", 90),
        ("Laufzeit (min)", 5400),
        ("Zeit [Std.]", 324000),
        ("Rechenzeit in Sekunden", 90),
        ("durée (ms)", 0.09),
        ("dure\u0301e (ms)", 0.09),  # as macOS writes é
        ("Tiempo (minutos)", 5400),
    ],
)
def test_a_unit_in_the_header_is_obeyed(read, header, seconds):
    assert read(f"# GPUs,{header}\n1,90\n").values == pytest.approx((seconds,))


@pytest.mark.parametrize(
    "header",
    [
        "Prozesse",
        "Kerne",
        "Knoten",
        "GPUs",
        "Anzahl GPUs",
        "Anzahl der Prozesse",
        "coeurs",
        "cœurs",
        "nœuds",
        "núcleos",
        "nodi",
    ],
)
def test_workers_are_known_by_their_other_names(read, header):
    assert pairs(read(f"{header};Durchsatz\n1;10,5\n2;20,25\n")) == [(1, 10.5), (2, 20.25)]


@pytest.mark.parametrize(
    ("cell", "seconds"),
    [
        ("1h 32m 10s", 5530),
        ("1h32m10.5s", 5530.5),
        ("1 h 32 min", 5520),
        ("1 Std. 32 Min.", 5520),
        ("2 hours, 5 minutes", 7500),
        ("1d 2h", 93600),
        ("92m", 5520),
        ("1:32:10", 5530),
        ("92:10.25", 5530.25),
        ("1m 500ms", 60.5),
    ],
)
def test_a_duration_is_read_as_people_write_it(read, cell, seconds):
    assert read(f'workers,time (ms)\n1,"{cell}"\n').values == pytest.approx((seconds,))


@pytest.mark.parametrize("cell", ["32m 1h", "1h 1h", "1:32", "1h 32", "h 3m", "1h 3 parsecs"])
def test_a_duration_that_may_mean_two_things_is_refused(refuse, cell):
    assert "write it like 35 ms, 1h 32m 10s, 1:32:10 or" in refuse(f"workers,time\n1,{cell}\n")


@pytest.mark.parametrize(
    "text",
    [
        "workers seconds\n1 60\n2 31\n",
        "# workers seconds\n1 60\n2 31\n# the end\n",
        "My runs by number of workers and seconds\n\nGPUs   Step time (s)  note\n----   ----  ----\n"
        "   1   60             my laptop\n   2   31,0           again\n",
        "workers\tseconds\n1\t60\n2\t31\n",
    ],
)
def test_columns_may_be_parted_by_spaces(read, text):
    assert pairs(read(text, "runs.txt")) == [(1, 60), (2, 31)]


def test_a_row_of_more_words_than_the_header_is_refused_with_what_helps(refuse):
    said = refuse("workers seconds\n1 60\n2 31 min\n", "runs.txt")
    assert "line 3 must have at most 2 cells" in said
    assert "two spaces" in said


def test_a_unit_in_a_cell_goes_before_that_of_the_header(read):
    found = read("nodes,time (s)\n1,2 min\n2,70\n4,1:02:03\n8,900 ms\n")
    assert found.values == (120, 70, 3723, 0.9)
    assert dict(found.units)["seconds"] == ("s", "min", "h:min:s", "ms")


@pytest.mark.parametrize(
    ("content", "values"),
    [
        ('workers,throughput\n1,"1,234.5"\n2,"2,400"\n', (1234.5, 2400)),
        ('workers,throughput\n1,"1,234"\n2,2400\n', (1234, 2400)),
        ("workers;throughput\n1;1.234,5\n2;2.400\n", (1234.5, 2400)),
        ("workers;seconds\n1;60,5\n2;31,25\n", (60.5, 31.25)),
        ("workers;seconds\n1;0,955\n2;0,512\n", (0.955, 0.512)),
        ("workers,throughput\n1,1 234\n2,2\u00a0400 000\n", (1234, 2400000)),
        ("workers,throughput\n1,1'234.5\n2,2_400\n", (1234.5, 2400)),
        ("workers\tseconds\n1\t60\n2\t3.1e1\n", (60, 31)),
        ("workers,throughput\n1,900 MB/s\n2,1.5 GiB/s\n", (9e8, 1.5 * 2**30)),
        ("workers,throughput\n1,1.2k img/s\n2,2.4k img/s\n", (1200, 2400)),
    ],
)
def test_thousands_and_decimals_of_several_countries_are_understood(read, content, values):
    assert read(content).values == pytest.approx(values)


def test_a_number_that_reads_two_ways_is_refused(refuse):
    said = refuse("workers;throughput\n1;1,234\n2;2,400\n")
    assert "line 2 column 'throughput' must be a number that reads only one way" in said
    said = refuse('workers,seconds\n1,"60,5"\n2,31.5\n')
    assert "the same decimal sign, got '60,5 and 31.5'" in said


def test_what_spreadsheets_and_people_leave_around_a_table_is_no_obstacle(read):
    messy = (
        "\ufeffsep=;\r\nWeak scaling on the new cluster\r\n\r\nGPUs ; time (s) ; comment\r\n"
        "8;1,5; \r\n\r\n;;\r\n1;9,25;slow\r\nGPUs;time (s);comment\r\n# a remark\r\n4;n/a;\r\n2;OOM;;\r\n"
    )
    found = read(messy)
    assert pairs(found) == [(8, 1.5), (1, 9.25)]
    assert found.missing == ((11, "seconds", "n/a"), (12, "seconds", "OOM"))
    assert found.claimed == "weak"
    assert [row.line for row in found.rows] == [5, 8]


def test_a_table_of_markdown_is_a_table(read):
    found = read("| GPUs | img/s |\n|---:|:---:|\n| 1 | 400 |\n| 8 | 3,000 |\n")
    assert pairs(found) == [(1, 400), (8, 3000)]


def test_line_numbers_are_those_of_an_editor_even_after_quoted_line_breaks(refuse):
    assert "line 4 column 'seconds'" in refuse('workers,note,seconds\n1,"two\nlines",5\n2,x,fast\n')


def test_batch_and_price_of_one_worker_are_multiplied_and_throughput_is_only_marked(read):
    found = read("gpus,img/s/gpu,batch per gpu,rate ($/h per GPU)\n4,100,32,2.5\n")
    assert (found.rows[0].batch, found.rows[0].rate) == (128, 10)
    assert found.values == (100,)
    assert found.each
    assert found.columns == {"workers": (4,), "throughput": (400,)}


def test_an_exact_name_goes_before_an_alias(read):
    assert read("nodes,workers,seconds,time\n1,8,50,99\n").rows[0].workers == 8
    assert read("nodes,workers,seconds,time\n1,8,50,99\n").values == (50,)


def test_of_two_measures_the_fuller_one_is_read(read):
    found = read("workers,seconds,throughput\n1,50,\n2,,200\n4,,390\n")
    assert found.measure == "throughput"
    assert pairs(found) == [(2, 200), (4, 390)]


@pytest.mark.parametrize(
    "data",
    [
        [
            {"workers": 1, "seconds": 60},
            {"workers": 2, "seconds": None},
            {"seconds": 31, "workers": "4"},
        ],
        {"title": "x", "rows": [{"p": 1, "time": "60 s"}, {"p": 4.0, "time": 31.0}]},
        {"gpus": [1, 4], "time (ms)": [60000, 31000]},
    ],
)
def test_json_of_rows_or_of_columns_is_read(read, data):
    assert pairs(read(json.dumps(data), "runs.json")) == [(1, 60), (4, 31)]
    assert pairs(read(json.dumps(data), "runs.txt")) == [(1, 60), (4, 31)]


def test_what_this_package_recorded_is_a_table(read):
    machine = records.Machine("laptop", 4)
    samples = tuple(
        records.Sample("epoch", seconds, 1, machine, "2025-11-20", given={"workers": k})
        for k, seconds in ((1, (2.0, 2.1)), (2, (1.1,)))
    )
    found = read(records.to_json(records.Recording("Strong scaling", samples)), "r.json")
    assert pairs(found) == [(1, 2.0), (1, 2.1), (2, 1.1)]
    assert found.rows[0].machine == "laptop"
    assert found.claimed == "strong"


def test_a_recording_that_was_added_to_holds_replicates_and_not_two_configurations(read, refuse):
    machine = records.Machine("laptop", 4)
    one = records.Sample("a", (2.0,), 1, machine, "2025-11-20", given={"workers": 2, "bytes": 8})
    again = dataclasses.replace(one, seconds=(2.1,))
    other = dataclasses.replace(one, given={"workers": 2, "bytes": 16})
    found = read(records.to_json(records.Recording("r", (one, again))), "r.json")
    assert [row.run for row in found.rows] == ["1", "2"]
    said = refuse(records.to_json(records.Recording("r", (one, other))), "r.json")
    assert "must differ in workers only, got ['bytes']" in said


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "runs.csv must have a header with workers"),
        ("a,b\n1,2\n", "line 1 must have a header with workers and with seconds or throughput"),
        ("workers,quality\n1,2\n", "line 1 must have a header"),
        (
            "workers,seconds\n1,fast\n",
            "line 2 column 'seconds' must be a positive time, got 'fast'",
        ),
        ("workers,seconds\n1,-3\n", "line 2 column 'seconds' must be a positive time, got '-3'"),
        ("workers,seconds\n1,0\n", "line 2 column 'seconds' must be a positive time"),
        ("workers,seconds\n1,inf\n", "line 2 column 'seconds' must be a positive time"),
        ("workers,seconds\n1,1e999\n", "line 2 column 'seconds' must be a positive time"),
        ("workers,seconds\n1.5,3\n", "line 2 column 'workers' must be a whole number from 1"),
        ("workers,seconds\n0,3\n", "line 2 column 'workers' must be a whole number from 1"),
        ("workers,seconds\n,3\n", "line 2 column 'workers' must be a whole number"),
        ("workers,seconds\n1,5,6\n", "line 2 must have at most 2 cells, as the header, got 3"),
        ("workers,time (furlongs)\n1,5\n", "column 'time (furlongs)' must give seconds in a unit"),
        ("workers,time,elapsed\n1,5,6\n", "header must have one column of seconds"),
        ("workers,seconds\n1,12 parsecs\n", "column 'seconds' must be a positive time"),
        ('workers,seconds\n1,"5\n', "must be CSV, got 'unexpected end of data'"),
        ("workers,seconds\n1,\n", "must hold a row with workers and a value, got 'none'"),
        ("workers,rate,seconds\n1,-1,5\n", "column 'rate' must be dollars per hour, at least 0"),
        (b"workers,seconds\n1,\xff\n", "must be UTF-8 text"),
        ("[1, 2]", "row 1 must be an object"),
        ('{"workers": [1, 2], "seconds": [3]}', "must have columns of equal length"),
        ('[{"workers": true, "seconds": 3}]', "row 1 column 'workers' must be a whole number"),
        ('[{"workers": 1, "seconds": NaN}]', "row 1 column 'seconds' must be a positive time"),
        ('[{"workers": 1, "seconds": [3]}]', "row 1 column 'seconds' must be a positive time"),
        ("[" * 5000, "must be JSON of a few levels"),
        ('{"record": "Recording"', "must continue as JSON"),
        ("workers,seconds\n" + "1,2\n" * 20_001, "must hold at most 20000 rows"),
        ("workers,seconds," + "x," * 300 + "\n1,2\n", "line 1 must have a header"),
    ],
)
def test_what_cannot_be_understood_is_refused_by_place(refuse, content, said):
    assert said in refuse(content)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    for path in (tmp_path / "none.csv", tmp_path, None):
        with pytest.raises(ValueError, match=r"must .+, got .+: .+"):
            table.read(path)


@pytest.mark.parametrize("series", TABLES, ids=lambda s: s.name)
def test_a_public_series_survives_a_messy_file(read, series):
    """Written out of order, with thousands separators and semicolons, it comes back to the digit."""
    found = table.of_series(series)
    rows = list(zip(series.workers, series.throughput or series.values, strict=True))
    random.Random(0).shuffle(rows)
    unit = f"time ({series.unit})" if series.seconds else "throughput"
    lines = [f"GPUs;{unit}"] + [
        f"{k};{v:,.12f}".replace(",", " ").replace(".", ",") for k, v in rows
    ]
    again = read("\ufeff" + "\r\n".join(lines))
    for one, other in zip(sorted(pairs(again)), sorted(pairs(found)), strict=True):
        assert one == pytest.approx(other, rel=1e-6, abs=0)


def test_a_series_that_is_no_scaling_table_is_refused():
    for series in SERIES:
        if series not in TABLES:
            with pytest.raises(ValueError, match=r"series must hold times or throughputs, got .+"):
                table.of_series(series)


def fine(found):
    """No NaN and nothing infinite; workers are whole, what was measured is positive."""
    numbers = [v for r in found.rows for v in vars(r).values() if isinstance(v, (int, float))]
    return all(map(math.isfinite, numbers)) and min(found.values) > 0 and min(found.workers) >= 1


def tried(read, content, name="runs.csv"):
    try:
        found = read(content, name)
    except ValueError as error:
        assert SENTENCE.fullmatch(str(error)), error  # noqa: PT017 - either outcome is fine
        return False
    assert fine(found)
    return True


CELL = st.one_of(
    st.integers(-2, 3000).map(str),
    st.floats().map(str),
    st.text("0123456789.,' eE+-%$:k\u00a0µs", max_size=8),
    st.sampled_from(
        ["", "n/a", "OOM", "8 GPUs", "1:02:03", "3 GiB/s", "5 ms", "∞", "٣", "1e400", "²"]
    ),
    st.text(max_size=6),
)
HEADER = st.sampled_from(
    [
        "workers",
        "seconds",
        "throughput",
        "work",
        "quality",
        "rate",
        "joules",
        "run",
        "time (ms)",
        "batch per GPU",
        "GPUs",
        "(",
        "x[",
        "img/s/GPU",
        "$/h",
        "",
        "seconds (",
        "note",
    ]
)
quick = settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@quick
@given(
    st.lists(HEADER, max_size=4),
    st.lists(st.lists(CELL, max_size=7), max_size=6),
    st.sampled_from(",;\t|"),
    st.booleans(),
)
def test_any_csv_is_read_or_refused_in_a_sentence(read, header, rows, delimiter, quoted):
    out = io.StringIO()
    writer = csv.writer(
        out,
        delimiter=delimiter,
        quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL,
        escapechar="\\",
    )
    writer.writerows([["workers", "seconds", *header], *rows])
    tried(read, out.getvalue().encode("utf-8", "surrogatepass"))


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), CELL),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(HEADER, inner, max_size=4),
    max_leaves=12,
)


@quick
@given(JSON)
def test_any_json_is_read_or_refused_in_a_sentence(read, data):
    tried(read, json.dumps(data), "runs.json")


REAL = [
    "\n".join(
        ["workers,throughput,batch", *(f"{k},{v:,}" for k, v in pairs(table.of_series(s)))]
    ).encode()
    for s in TABLES[:4]
] + [
    (ROOT / "scalelab/data/public_scaling.csv").read_bytes()[:3000],
    json.dumps(
        [{"workers": k, "seconds": v} for k, v in pairs(table.of_series(TABLES[3]))]
    ).encode(),
    b"| GPUs | Time (s) | Quality |\n|---|---|---|\n| 1 | 1,234.5 | 76.1 % |\n| 2 | 640 | 76 % |\n",
    b"GPUs;Zeit;seconds;rate\n1;x;1.234,5;2,5\n2;y;640,25;5\n4;z;330,1;10\n",
]


@quick
@given(st.sampled_from(REAL), st.integers(0, 2**32))
def test_a_real_file_with_damage_is_read_or_refused_in_a_sentence(read, content, seed):
    luck, damaged = random.Random(seed), bytearray(content)
    for _ in range(luck.randint(1, 6)):
        at = luck.randrange(len(damaged) + 1)
        kind = luck.randrange(4)
        if kind == 0 and at < len(damaged):
            damaged[at] = luck.choice(b'0123456789.,;"\n\r\t -eE%\x00\xff{}[]|')
        elif kind == 1:
            del damaged[at : at + luck.randint(1, 8)]
        elif kind == 2:
            damaged[at:at] = damaged[luck.randrange(len(damaged) + 1) :][:12]
        else:
            damaged[at:at] = luck.choice(
                [b",", b"\n", b'"', b"nan", b"1e999", "–".encode(), b"\x00"]
            )
    tried(read, bytes(damaged))


def test_the_fuzz_meets_both_outcomes(read):
    """Otherwise it could pass on refusals alone."""
    assert tried(read, REAL[-1])
    assert tried(read, REAL[-2])
    assert not tried(read, REAL[-1][:10])


def test_a_long_cell_takes_no_long_time(read):
    """Patterns that backtrack would need hours for these."""
    for cell in (" " * 10**5, "1," * 10**4, "(" * 10**5, "9" * 10**5, "per " * 10**4, "_" * 10**5):
        tried(read, f"workers,seconds,{cell}x\n1,2,3\n".encode())
        tried(read, f'workers,seconds\n1,"{cell}"\n'.encode())
        tried(read, json.dumps([{"workers": 1, "seconds": cell, cell: 1}]).encode())


def test_every_column_that_the_reader_knows_is_named_in_its_docstring():
    roles = set(re.findall(r"`(\w+)`", table.__doc__))
    assert roles == set(table._KINDS) | set(table._TEXTS)


def test_a_row_may_stand_closer_than_its_header(read):
    table = read("# cores   GFLOP/s\n1  10.5\n2  20.1\n4  38\n8 60\n")
    assert table.workers == (1, 2, 4, 8)
    assert [row.throughput for row in table.rows] == [10.5, 20.1, 38.0, 60.0]
