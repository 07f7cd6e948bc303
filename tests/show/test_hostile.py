"""Words of others on every page: a tag, quotes and an ampersand in each of them, escaped exactly once."""

import json
import re
from collections import Counter

import numpy as np
import pytest
from bs4 import BeautifulSoup

from scalelab import rubric
from scalelab.checks.report import MISSING, READABLE, RIGHT, WRONG, block
from scalelab.grading.inputs.collect import Submission
from scalelab.grading.inputs.comments import Item
from scalelab.grading.inputs.flag import GRAVE, Flag
from scalelab.grading.inputs.regrades import Request
from scalelab.grading.inputs.source import load
from scalelab.grading.judging.result import result
from scalelab.grading.out import report as class_report, side_by_side, similar
from scalelab.grading.out.worth import Known, Mark
from scalelab.grading.returned.feedback import feedback
from scalelab.records import Machine, Sample, Stamp
from scalelab.show import picture
from scalelab.show.chart import Axis, Chart, Points
from scalelab.show.claims import claim
from scalelab.show.columns import table
from scalelab.show.report import Embedded, page_of
from scalelab.show.sliders import Figure, Replay, Slider
from tests.cli.test_rubric import study
from tests.grading.out.given import handed
from tests.notebooks import ROOT

SPEEDUP = load(ROOT, "01_speedup")
CHECK = next(cell.id for cell in SPEEDUP.cells if cell.check)
TEXTS = [cell.id for cell in SPEEDUP.cells if cell.manual]
ANSWER = "answer-3-4"
WORD = re.compile(r"""<script>alert\((\w+)\)</script>&"'""")


def evil(field):
    """What might stand in this field."""
    return f"""<script>alert({field})</script>&"'"""


def read(page):
    """Count each field's words as a browser reads them, in texts, attributes and data.

    What a page holds of a word, it holds whole and once escaped; so no more of it may be in the source.
    Not even in data may a tag stand: `<!--<script>` there would swallow the end of its script.
    """
    source = re.sub(r"<!--.*?-->", "", str(page), flags=re.S)  # matplotlib names its groups in them
    soup = BeautifulSoup(source, "html.parser")
    words = []
    for tag in soup.find_all(True):
        words += [
            " ".join(value) if isinstance(value, list) else value for value in tag.attrs.values()
        ]
    for text in soup.find_all(string=True):
        if text.parent.get("type") == "application/json":
            words += spoken(json.loads(text))
        else:
            words.append(text)
    found = Counter(field for word in words for field in WORD.findall(word))
    assert found == Counter(re.findall(r"alert\((\w+)\)", source))
    assert "<script>alert" not in source
    return set(found)


def spoken(data):
    """Return every text in data, however deep."""
    if isinstance(data, str):
        return [data]
    inside = data.values() if isinstance(data, dict) else data if isinstance(data, list) else []
    return [text for one in inside for text in spoken(one)]


def student(**more):
    """Hand in an answer whose every word is meant to run."""
    ran = {"text": evil("printed"), "pictures": [], "error": [evil("error"), evil("said"), 3]}
    cells = [
        {"id": ANSWER, "kind": "code", "text": evil("code"), "shown": ran},
        {"id": TEXTS[0], "kind": "markdown", "text": evil("text"), "shown": None},
    ]
    own = [
        {"after": "", "kind": "code", "text": evil("own")},
        {"after": "nowhere", "kind": "markdown", "text": evil("last")},
    ]
    test = {CHECK: {"output": evil("output"), "slips": [evil("slip")]}}
    odd = [Flag(evil("flag"), GRAVE)]
    found = {"answers": cells, "own": own, "typed": {CHECK: evil("typed")}, "odd": odd} | more
    return handed(SPEEDUP, test, student=evil("student"), **found)


def course(task):
    """What the tables of the course say of this student, who is called in them as they please."""
    item = Item(TEXTS[0], "code", evil("item"), -1.0)
    marks = {
        TEXTS[0]: Mark(comment=f"#code {evil('comment')}", items=(item,)),
        TEXTS[1]: Mark(comment="#none", unknown=(evil("unknown"),)),
    }
    request = Request(evil("student"), task, evil("request"), evil("answer"))
    return Known(marks, name=evil("name"), may_ask=True, requests=(request,))


def test_nothing_in_what_a_student_gets_back_becomes_a_tag():
    assert read(feedback(SPEEDUP, student(), course(CHECK))) == {
        *("student", "name", "printed", "error", "said", "code", "text", "own", "last", "output"),
        *("flag", "typed", "item", "comment", "request", "answer"),
    }


def test_nothing_in_the_page_of_who_has_no_score_becomes_a_tag():
    failed = result(SPEEDUP, Submission(evil("student")), status="failed", reason=evil("reason"))
    assert read(feedback(SPEEDUP, failed, course(CHECK))) == {
        *("student", "name", "reason", "request", "answer"),
    }


@pytest.mark.parametrize("pages", ["", "../../feedback"])
def test_nothing_in_the_class_report_becomes_a_tag(pages):
    failed = result(SPEEDUP, Submission("eli"), status="failed", reason=evil("reason"))
    known = {evil("student"): course(CHECK), "eli": Known(name=evil("eli"))}
    told = class_report.summary(SPEEDUP, [student(), failed], known)
    # A slip is told without what a student wrote in it.
    assert read(class_report.html(told, pages)) >= {
        *("student", "name", "flag", "reason", "eli", "item", "unknown", "request", "answer"),
    }


def test_nothing_in_two_answers_beside_each_other_becomes_a_tag():
    wrote = "\n".join(f"{line} = sum(rows[{n}:]) * {n}" for n, line in enumerate("abcdefgh" * 2))
    both = [
        {"student": evil(name), "answers": [{"id": ANSWER, "text": f"# {evil(word)}\n{wrote}"}]}
        for name, word in (("ada", "hers"), ("ben", "his"))
    ]
    found = similar.pairs(SPEEDUP, both)
    assert found
    page = side_by_side.html(SPEEDUP, both, found, "../../feedback")
    assert read(page) == {"ada", "ben", "hers", "his"}
    assert "<mark>" in page


def test_nothing_in_a_verdict_becomes_a_tag():
    rows = [
        (state, evil(f"about{n}"), evil(f"said{n}"))
        for n, state in enumerate((RIGHT, WRONG, READABLE, MISSING))
    ]
    assert read(block(evil("title"), rows, evil("more"))) == {
        *("title", "more"), *(f"{what}{n}" for what in ("about", "said") for n in range(4)),
    }  # fmt: skip


def stamp():
    machine = Machine(evil("host"), cores=1)
    return Stamp("measured here", machine, date=evil("date"), note=evil("note"))


def chart(_=None):
    return Chart(
        evil("title"),
        Axis(evil("x")),
        Axis(evil("y"), ticks=(1.0, 2.0), names=(evil("low"), evil("high"))),
        (Points(evil("first"), [1, 2], [1, 2]), Points(evil("second"), [1, 2], [2, 1], "points")),
        {evil("readout"): evil("value")},
        stamp=stamp(),
    )


SHOWN = {"title", "x", "y", "first", "second"}
BESIDE = {"readout", "value", *(set(re.findall(r"alert\((\w+)\)", stamp().text)))}


def test_nothing_in_a_figure_becomes_a_tag(tmp_path):
    assert read(Figure(chart()).html()) >= SHOWN | BESIDE
    picture.write(chart(), tmp_path / "it.html")
    assert read((tmp_path / "it.html").read_text()) >= SHOWN | BESIDE
    picture.write(chart(), tmp_path / "it.svg")
    drawn = (tmp_path / "it.svg").read_text()
    assert read(drawn[drawn.index("<svg") :]) >= SHOWN


def test_nothing_under_sliders_becomes_a_tag():
    names = Slider(evil("slider"), (evil("here"), evil("there")), evil("here"))
    page = Replay(chart, {"_": names}).html()
    assert read(page) >= SHOWN | BESIDE | {"slider", "here", "there"}


def test_nothing_in_a_table_becomes_a_tag():
    sample = Sample("step", (0.1,) * 9, 1, Machine("host", cores=1), "2026-01-01")
    columns = {evil("head"): [evil("row"), "b"], evil("second"): [sample, np.float64(1)]}
    assert read(table(columns, evil("caption"), stamp=stamp())._repr_html_()) >= {
        *("head", "row", "second", "caption", "host", "note"),
    }


def test_nothing_in_a_claim_becomes_a_tag():
    said = claim(evil("what"), least=1.0, unit="s", otherwise=evil("otherwise"))
    assert read(said._repr_html_()) == {"what"}
    assert read(said(2.0)._repr_mimebundle_()["text/html"]) == {"what"}
    assert read(said(0.5)._repr_mimebundle_()["text/html"]) == {"what", "otherwise"}


def test_nothing_in_a_rubric_becomes_a_tag_nor_where_it_is_shown_inside_a_page():
    judged = rubric.judge(study(name=evil("name"), metric=evil("metric")))
    page = page_of(judged, claim=evil("claim"))
    assert read(page) >= {"name", "metric", "claim"}
    frame = BeautifulSoup(Embedded(page, evil("title"))._repr_html_(), "html.parser").iframe
    assert frame["srcdoc"] == page
    assert frame["title"] == evil("title")
