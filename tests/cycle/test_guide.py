"""The instructor's page, typed from beginning to end in one course: a term with four students.

Every shell block is typed as it stands, in order, or says in a comment before it why not. What the page
shows below a block must come out, "…" standing for what differs; tables that it shows become files.
What people do between the commands, and what must have come of them, stands here by command.
"""

from __future__ import annotations

import contextlib
import csv
import os
import re
import shutil
import socket
import stat
import subprocess
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from playwright.sync_api import expect

from scalelab.grading.box import bubblewrap
from tests.assignments.runner import Assignment, table
from tests.browser import conftest as browsers
from tests.browser.test_lab import LAB_OPTIONS, PATIENCE, TOKEN, serving
from tests.children import environment
from tests.grading.out.test_out import PNG
from tests.grading.out.test_record import postgres  # noqa: F401 - a fixture
from tests.notebooks import ROOT

pytestmark = [
    pytest.mark.course,
    pytest.mark.skipif(bool(bubblewrap.find().missing), reason=bubblewrap.find().missing),
]

SLUG = "01_speedup"
PAGE = ROOT / "book" / "instructor.md"
TEXTS = ("answer-1-4", "answer-2-4", "answer-3-5")  # three explanations, of three points each
BLOCK = re.compile(r"(?:^<!-- ([^\n]*) -->\n)?^```(shell|text|csv)\n(.*?)^```$", re.M | re.S)
UNTYPED, STUDENTS = "not typed: ", "each student types"
THROUGH_THE_EXCHANGE = ("ada", "ben")
# These wait for `make test-all`: tests/grading, test_scores and test_lab try them in parts every day.
HEAVY = (
    *("$GRADEBOOK", "$SCHEDULER", "dask ", "nbgrader autograde", "nbgrader generate_feedback"),
    *("jupyter lab", "release --check"),
)
GRADE = f"scalelab grade {SLUG}"
RELEASE = f"nbgrader generate_assignment {SLUG} --force"
# Formgrader takes its MathJax from elsewhere, and reads no score before that has come.
MATHJAX = """window.MathJax = {Hub: {
  Config() {}, Configured() {}, Queue() {}, Typeset() {}, Register: {StartupHook() {}, MessageHook() {}},
  Startup: {signal: {Interest(tell) { setTimeout(() => tell("End"), 0); }}},
}};"""
SCRIPTS = (
    "<script>alert(1)</script><img src=x onerror=alert(1)> <a href='javascript:alert(1)'>x</a>"
)
LATE_WARNING = """
import logging, sys, warnings

logging.basicConfig()

def sweep(serial, workers):
    warnings.warn("deprecated, they say")
    logging.warning("and log")
    print("and write to stderr", file=sys.stderr)
    return [
        (k, serial + (1 - serial) / k, k / (k * serial + 1 - serial),
         1 / (k * serial + 1 - serial), np.float64(1 if k == 1 else 0.25 / (k - 1)))
        for k in workers
    ]

def limits(serial, workers):
    below = [k for k in workers if k * serial + 1 - serial > 2]
    return np.float64(1 / serial), below[0] if below else None
"""


Deed = Callable[..., object]  # (the term, who types it if a student does, what the line said)
BEFORE: dict[str, Deed] = {}
AFTER: dict[str, Deed] = {}
GOES_ON: dict[str, Deed] = {}  # what types a line that does not end by itself


def at(when: dict[str, Deed], line: str):
    """Have a function done at a line of the page."""
    return lambda deed: when.setdefault(line, deed)


def nothing(*_):
    """Do nothing."""


@dataclass(frozen=True)
class Block:
    """What the page says to type, or shows, and the comment before it."""

    number: int
    kind: str
    body: str
    note: str

    @property
    def lines(self) -> list[str]:
        """Its commands, each whole."""
        return self.body.replace("\\\n", "").splitlines()

    @property
    def heavy(self) -> bool:
        """Whether it waits for `make test-all`."""
        return any(word in self.body for word in HEAVY)


BLOCKS = [
    Block(number, kind, body, note)
    for number, (note, kind, body) in enumerate(BLOCK.findall(PAGE.read_text()))
]
TYPED = [b for b in BLOCKS if b.kind == "shell" and not b.note.startswith(UNTYPED)]


class Term:
    """A course in a folder of its own, its exchange, its students' desks, and how far the page is typed."""

    def __init__(self, place: Path) -> None:
        self.place, self.root = place, place / "course"
        self.typed: set[int] = set()
        self.read = False  # whether somebody has read what waits for a person
        self.ours: dict[str, dict[str, float]] = {}  # points before nbgrader graded alone
        self.open = contextlib.ExitStack()
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = str(free.getsockname()[1])
        # What the page names and cannot be so here: nobody is late, and the port is free.
        self.instead = {"2027-03-": f"{date.today().year + 2}-03-", "8786": port}
        self.root.mkdir()
        shutil.copy(ROOT / "nbgrader_config.py", self.root)
        for folder in ("solutions", "exercises"):
            for slug in (SLUG, "05_laws"):  # of which the page has groups
                shutil.copytree(ROOT / folder / slug, self.root / folder / slug)
        settings = place / "settings"
        settings.mkdir()
        exchange = place / "exchange"  # which is /usr/local/share/nbgrader/exchange for others
        exchange.mkdir()
        exchange.chmod(0o777)
        (settings / "nbgrader_config.py").write_text(f"c.Exchange.root = {str(exchange)!r}\n")
        self.environment = environment(
            JUPYTER_CONFIG_DIR=str(settings),
            IPYTHONDIR=str(settings / "ipython"),
            SCHEDULER=f"tcp://127.0.0.1:{port}",
        )
        self.environment.pop("SCALELAB_COURSE_SECRET", None)
        for student in THROUGH_THE_EXCHANGE:
            (self.desk(student) / "data").mkdir(parents=True)

    def desk(self, student: str) -> Path:
        """Return where a student works."""
        return self.place / "desks" / student

    def come_to(self, block: Block) -> None:
        """Type all up to a block, once; the heavy ones only where they are asked for."""
        for one in BLOCKS[: block.number + 1]:
            if one.number not in self.typed and (one is block or not one.heavy):
                self.typed.add(one.number)
                self._do(one)

    def _do(self, block):
        if block.kind == "csv":
            (self.root / block.note).write_text(self.here(block.body))
        elif block in TYPED:
            everybody = THROUGH_THE_EXCHANGE if block.note == STUDENTS else [""]
            said = [self.type(line, one) for one in everybody for line in block.lines]
            follows = BLOCKS[block.number + 1 : block.number + 2]
            if follows and follows[0].kind == "text":
                assert missing("\n".join(said), self.here(follows[0].body)) == [], "\n".join(said)

    def here(self, text: str) -> str:
        """Return a text of the page as it has to be in this course."""
        for shown, ours in self.instead.items():
            text = text.replace(shown, ours)
        return text

    def type(self, line: str, student: str = "") -> str:
        """Do what people do before a line, type it, and look at what came of it."""
        given = [student] if student else []
        BEFORE.get(line, nothing)(self, *given)
        said = GOES_ON[line](self, line) if line in GOES_ON else self.run(line, student)
        AFTER.get(line, nothing)(self, *given, said)
        return said

    def run(self, line: str, student: str = "") -> str:
        """Run one line in a shell, as the instructor or as a student of that name; return what it said."""
        words = ["bash", "-c", self.here(line)]
        own = self.environment
        if student:
            desk = self.desk(student)
            own = own | {"HOME": str(desk), "JUPYTER_DATA_DIR": str(desk / "data")}
            words = [*self._as(student), *words]
        done = subprocess.run(
            words,
            cwd=self.desk(student) if student else self.root,
            env=own,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    def _as(self, student):
        """Return the words that run others under the name of a student."""
        users = self.place / f"{student}.passwd"
        users.write_text(f"{student}:x:4001:4001::{self.desk(student)}:/bin/sh\n")
        named = ["--unshare-user", "--uid", "4001", "--gid", "4001"]
        return ["bwrap", "--dev-bind", "/", "/", *named, "--ro-bind", str(users), "/etc/passwd"]

    def begin(self, line: str) -> subprocess.Popen:
        """Begin what goes on until the term is over."""
        log = self.open.enter_context((self.place / "begun.txt").open("a+"))
        process = subprocess.Popen(
            ["bash", "-c", f"exec {self.here(line)}"],
            cwd=self.root, env=self.environment, stdout=log, stderr=log,
        )  # fmt: skip
        self.open.callback(process.wait, 30)
        self.open.callback(process.terminate)
        return process

    def book(self) -> Gradebook:
        """Open the gradebook."""
        return Gradebook(f"sqlite:///{self.root / 'course' / 'gradebook.db'}")

    def number(self, student: str) -> str:
        """Return what formgrader calls a student's notebook."""
        with self.book() as book:
            return book.find_submission_notebook(SLUG, SLUG, student).id

    def scores(self, student: str) -> dict[str, float]:
        """Return {cell: score} of a student in the gradebook, where there is one."""
        with self.book() as book:
            grades = book.find_submission_notebook(SLUG, SLUG, student).grades
            return {g.name: g.score for g in grades if {g.auto_score, g.manual_score} != {None}}

    def checked(self, student: str) -> dict[str, float]:
        """Return {check: score} of a student in the gradebook."""
        return {n: points for n, points in self.scores(student).items() if n.startswith("check-")}

    def rows(self, name: str) -> dict[str, dict[str, str]]:
        """Return the rows of a table of ours by its first column."""
        with (self.root / "course" / "graded" / SLUG / name).open(newline="") as file:
            return {next(iter(row.values())): row for row in csv.DictReader(file)}

    def page(self, student: str) -> str:
        """Return a student's page of feedback."""
        return (self.root / "course" / "feedback" / student / SLUG / f"{SLUG}.html").read_text()

    def hand_in(self, place: Path, answers: dict[str, str]) -> None:
        """Write a released notebook with some answers, and a picture where one speaks of it."""
        notebook = nbformat.read(self.root / "exercises" / SLUG / f"{SLUG}.ipynb", 4)
        for cell in notebook.cells:
            cell.source = answers.get(cell.id, cell.source)
            if "attachment:" in cell.source:
                cell.attachments = {"image.png": {"image/png": PNG}}
        place.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, place)


def missing(said: str, shown: str) -> list[str]:
    """Return the lines that should have been said in this order, from the first that was not."""
    lines = iter(said.splitlines())
    wanted = shown.splitlines()
    for n, line in enumerate(wanted):
        alike = re.compile(".*".join(map(re.escape, line.split("…")))).fullmatch
        if not any(map(alike, lines)):
            return wanted[n:]
    return []


# --- what people do, and what must have come of it -------------------------------------------------


def reference() -> dict[str, str]:
    """Return the author's answers, with explanations of a student's."""
    answers = {k: c.source for k, c in Assignment(SLUG).cells.items() if k.startswith("answer")}
    return answers | dict.fromkeys(TEXTS, "Because *it* must be so.")


def of_cleo() -> dict[str, str]:
    """Return answers that are right in part, that warn, and that are no Python."""
    wrong = table(SLUG).WRONG
    return {
        "answer-1-3": wrong["1-3"][6][2],
        "answer-2-1": LATE_WARNING,
        "answer-2-2": "this is no Python",
        "answer-3-1": table(SLUG).ALTERNATIVE["answer-3-1"],
        "answer-3-5": f"![So](attachment:image.png) {SCRIPTS}",
    }


@at(AFTER, "nbgrader db student import course/students.csv")
def the_course_has_one_secret_for_its_owner_only(term, said):
    secret = term.root / "course" / "secret"
    assert len(secret.read_text().strip()) == 64
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600


@at(AFTER, RELEASE)
def stock_nbgrader_makes_the_release_we_commit(term, said):
    made = term.root / "exercises" / SLUG / f"{SLUG}.ipynb"
    assert made.read_bytes() == (ROOT / "exercises" / SLUG / f"{SLUG}.ipynb").read_bytes()


VALIDATE = f"nbgrader validate {SLUG}/{SLUG}.ipynb"


@at(BEFORE, VALIDATE)
def ada_works_and_ben_does_not(term, student):
    desk = term.desk(student) / SLUG
    shutil.copy(term.root / "course" / "keys" / f"{student}.key", desk / "scalelab.key")
    if student == "ada":
        term.hand_in(desk / f"{SLUG}.ipynb", reference())


@at(AFTER, VALIDATE)
def the_stub_fails_with_our_report_and_the_reference_passes(term, student, said):
    assert "Traceback" not in said
    if student == "ada":
        assert "Success! Your notebook passes all the tests." in said
    else:
        assert "VALIDATION FAILED ON 13 CELL(S)" in said
        assert "Task 2.3: not attempted, 0 of 4 points" in said


COLLECT = next(line for b in TYPED for line in b.lines if line.startswith("nbgrader zip_collect"))


@at(BEFORE, COLLECT)
def the_platforms_downloads_are_unpacked(term):
    place = term.root / "course" / "downloaded" / SLUG / "archive"
    term.hand_in(place / f"cleo_{SLUG}.ipynb", of_cleo())


@at(AFTER, COLLECT)
def everybody_who_handed_in_has_a_folder(term, said):
    folders = {path.parts[-3] for path in term.root.glob(f"course/submitted/*/{SLUG}/*.ipynb")}
    assert folders == {"ada", "ben", "cleo"}


@at(AFTER, GRADE)
def everybody_has_a_state_and_the_points_due(term, said):
    rows = term.rows("scores.csv")
    assert {student: row["status"] for student, row in rows.items()} == {
        "ada": "graded", "ben": "graded", "cleo": "graded with flags", "dan": "missing",
    }  # fmt: skip
    assert (rows["ada"]["score"], rows["ben"]["score"], rows["dan"]["score"]) == ("41.0", "0.0", "")
    assert f"data:image/png;base64,{PNG}" in term.page("cleo")  # pasted into an explanation
    quoted = "41 of 50 points; 9 more are still to be read"  # before anybody has read a text
    assert quoted in term.page("ada")
    assert quoted in PAGE.read_text()
    earned = {name for name, score in term.scores("cleo").items() if score}
    assert earned == {"check-1-3", "check-2-1", "check-3-1"}


ARCHIVE = f"{GRADE} --submitted downloads.zip"


@at(BEFORE, ARCHIVE)
def moodle_gives_the_same_submissions_in_one_file(term):
    with zipfile.ZipFile(term.root / "downloads.zip", "w") as archive:
        for number, path in enumerate(sorted(term.root.glob("course/submitted/*/*/*.ipynb"))):
            name = f"{path.parts[-3]}_{1000 + number}_assignsubmission_file_"
            archive.write(path, f"{name}/{path.name}")


@at(AFTER, ARCHIVE)
def moodles_table_has_moodles_numbers(term, said):
    rows = term.rows("moodle.csv").values()
    assert [(row["Identifier"], row[SLUG]) for row in rows if row["Identifier"]][:2] == [
        ("Participant 1000", "41.0"),
        ("Participant 1001", "0.0"),
    ]


@at(GOES_ON, "jupyter lab")
def somebody_reads_the_explanation_of_ada_in_formgrader(term, line):
    if browsers.found() is None:
        required = os.environ.get("SCALELAB_REQUIRE_BROWSER") == "1"
        (pytest.fail if required else pytest.skip)("no browser to read explanations in")
    own = term.place / "server"
    own.mkdir()
    with (
        serving("jupyterlab", term.root, own, *LAB_OPTIONS) as server,
        browsers.chromium() as browser,
        browsers.visiting(browser, home=server.address) as visit,
    ):
        visit.context.set_default_timeout(PATIENCE)
        visit.context.route(
            "**/mathjax/**",
            lambda route: route.fulfill(body=MATHJAX, content_type="text/javascript"),
        )
        asked = []
        visit.page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
        visit.page.goto(f"{server.address}/lab?token={TOKEN}&reset")
        visit.page.get_by_role("menuitem", name="Nbgrader", exact=True).click()
        visit.page.get_by_role("menuitem", name="Formgrader", exact=True).click()
        read(term, visit.page)
        for student in ("ada", "ben", "cleo"):
            visit.page.goto(f"{server.address}/formgrader/submissions/{term.number(student)}/")
            assert points(visit.page) == pytest.approx(term.scores(student)), student
        assert asked == []  # no script of a student's has run
        term.read = True
    return ""


def points(page):
    """Return {cell: points} that formgrader shows, given by hand or automatically."""
    boxes = page.locator("input.score")
    expect(boxes).to_have_count(13, timeout=PATIENCE)
    page.wait_for_function("[...document.querySelectorAll('input.score')].some(e => e.placeholder)")
    texts = {
        box.get_attribute("id"): box.input_value() or box.get_attribute("placeholder")
        for box in boxes.all()
    }
    return {cell: float(text) for cell, text in texts.items() if text}


def read(term, page):
    """Go to ada's explanation, give it points and say a word."""
    frame = page.frame_locator("#formgrader-iframe iframe")
    frame.get_by_role("link", name="Manual Grading").click()
    # By where they lead: both are named alike, and the first page may still stand when the second is due.
    for way in (SLUG, f"{SLUG}/{SLUG}"):
        frame.locator(f"a[href$='/gradebook/{way}']").click()
    frame.locator(f"a[href$='/submissions/{term.number('ada')}']").first.click()
    expect(frame.locator("#check-1-1")).to_have_attribute("placeholder", "3", timeout=PATIENCE)
    said = {f"#{TEXTS[0]}-comment": "Well said.", f"#{TEXTS[1]}-comment": "#number"}
    for place, given in {f"#{TEXTS[0]}": "2.5", **said}.items():
        frame.locator(place).fill(given)
        with page.expect_response(lambda answer: answer.request.method == "PUT"):
            frame.locator(place).press("Tab")


RESUME = f"{GRADE} --resume"


@at(AFTER, RESUME)
def what_a_person_gave_is_on_the_page(term, said):
    if term.read:
        assert "46 of 50 points; 3 more are still to be read" in term.page("ada")
        for words in ("Well said.", "Say how much, not only in which direction. (-0.5)"):
            assert words in term.page("ada")


@at(AFTER, f"nbgrader fetch_feedback {SLUG} --course=scaling")
def everybody_gets_the_own_page(term, student, said):
    (page,) = term.desk(student).glob(f"{SLUG}/feedback/*/{SLUG}.html")
    assert page.read_text() == term.page(student)


@at(AFTER, "nbgrader export --to=course/grades.csv")
def the_export_has_a_row_for_everybody_and_a_blank_for_who_is_missing(term, said):
    with (term.root / "course" / "grades.csv").open(newline="") as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    canvas = term.rows("canvas.csv")
    assert rows.keys() == {"ada", "ben", "cleo", "dan"}
    assert {row["max_score"] for row in rows.values()} == {"50.0"}
    for row in rows.values():
        name = f"{row['first_name']} {row['last_name']}"
        assert row["score"] == canvas[name][SLUG], name


@at(AFTER, f"{RESUME} --similar")
def what_a_term_brings_is_on_the_pages(term, said):
    assert "My bill is per hour, is it not?" in term.page("cleo")
    assert "To have this graded again" in term.page("ben")
    assert f"due {term.here('2027-03-08')} 18:00 UTC" in term.page("ben")
    assert (term.root / "course" / "graded" / SLUG / "similar.html").exists()


MENDED = f"{GRADE} --task 3.4"


@at(BEFORE, MENDED)
def the_author_mends_the_check_that_asked_too_little(term):
    path = term.root / "solutions" / SLUG / f"{SLUG}.ipynb"
    notebook = nbformat.read(path, 4)
    check = next(cell for cell in notebook.cells if cell.id == "check-3-4")
    check.source = check.source.replace(
        "### END HIDDEN", 'task.number("unheard_of", expect=1.0, hidden=True)\n### END HIDDEN'
    )
    nbformat.write(notebook, path)


@at(AFTER, MENDED)
def only_that_task_has_other_points(term, said):
    changed = term.rows("changes.csv")
    assert {row["tasks"].partition(" ")[0] for row in changed.values()} == {"3.4"}
    assert "ada" in changed
    shutil.copytree(ROOT / "solutions" / SLUG, term.root / "solutions" / SLUG, dirs_exist_ok=True)


@at(AFTER, f"{GRADE} --only ada")
def one_student_is_graded_and_all_are_in_the_tables(term, said):
    rows = term.rows("scores.csv")
    assert {*rows} == {"ada", "ben", "cleo", "dan"}
    assert rows["ada"]["check-3-4"] == "4.0"


@at(GOES_ON, "dask scheduler --host 127.0.0.1 --port 8786")
@at(GOES_ON, "dask worker $SCHEDULER --nworkers 2 --nthreads 1")
def it_goes_on_until_the_term_is_over(term, line):
    term.begin(line)
    return ""


AUTOGRADE = f"nbgrader autograde {SLUG}"


@at(BEFORE, AUTOGRADE)
def nobody_has_graded_cleo(term):
    shutil.rmtree(term.root / "course" / "autograded" / "cleo")
    term.ours = {student: term.checked(student) for student in ("ada", "cleo")}


@at(AFTER, f"{AUTOGRADE} --student=ada --force")
def nbgrader_alone_gives_the_same_points(term, said):
    for student, ours in term.ours.items():
        assert term.checked(student) == pytest.approx(ours), student


@at(AFTER, f"nbgrader generate_feedback {SLUG} --force")
def its_pages_hold_no_hidden_check(term, said):
    for student in ("ada", "ben", "cleo"):
        for secret in ("BEGIN HIDDEN", "fresh(", "hidden=True", "MARK SCHEME", "3 points:"):
            assert secret not in term.page(student)
    assert "that is the bill per hour" in term.page("cleo")


# --- the tests -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def term(tmp_path_factory):
    """The course of a term, which the tests of this file go through."""
    one = Term(tmp_path_factory.mktemp("term"))
    with one.open:
        yield one


def test_every_shell_block_is_typed_or_says_why_not():
    for block in BLOCKS:
        if block.kind == "shell":
            given = block.note in ("", STUDENTS)
            assert given or re.fullmatch(f"{UNTYPED}\\w.+", block.note), block.body
        assert block.kind != "csv" or block.note.startswith("course/"), block.body


def test_everything_that_people_do_here_is_at_a_line_of_the_page():
    lines = {line for block in TYPED for line in block.lines}
    assert {*BEFORE, *AFTER, *GOES_ON} - lines == set()


def test_every_option_that_the_page_names_is_one_of_the_command():
    from scalelab.cli.teach.grade import command

    known = {name for option in command.params for name in option.opts}
    named = re.findall(r"^\| [^|]* \| `(--[a-z-]+)", PAGE.read_text(), re.M)
    assert len(named) > 5
    assert {*named} - known == set()


@pytest.mark.parametrize(
    "block",
    [
        pytest.param(block, id=block.lines[0], marks=[pytest.mark.thorough] * block.heavy)
        for block in TYPED
    ],
)
def test_a_block_does_what_the_page_says(block, term, request):
    if "$GRADEBOOK" in block.body:
        term.environment["GRADEBOOK"] = request.getfixturevalue("postgres")
    term.come_to(block)
