"""JupyterLab itself: a chapter runs from top to bottom, its sliders move, an assignment answers.

One JupyterLab for all, as a reader has it, with one notebook open at a time.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import tomllib
import urllib.parse
import urllib.request
from pathlib import Path

import nbformat
import numpy as np
import pytest
from playwright.sync_api import TimeoutError, expect

from tests.browser.conftest import nothing, visiting
from tests.browser.figures import made_anew
from tests.children import environment
from tests.notebooks import ROOT, WRITTEN, chapter, explored
from tests.sampling import sampled, seed

TOKEN = "known-to-this-test-only"
SECONDS_TO_RUN = 600  # a chapter keeps to 60 on a machine that does nothing else
PATIENCE = 60_000  # milliseconds that a machine with other work may need for anything else
SETTINGS = {
    # JupyterLab may keep cells that are out of sight out of the page, and these tests look at all.
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
}
OPTIONS = (
    "--ServerApp.open_browser=False",
    "--ServerApp.ip=127.0.0.1",
    "--ServerApp.port_retries=0",
    "--ServerApp.allow_root=True",
    f"--IdentityProvider.token={TOKEN}",
)
LAB_OPTIONS = (
    "--LabApp.extension_manager=readonly",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    "--LabApp.expose_app_in_browser=True",
)
OPEN = """async (path) => {
  await jupyterapp.restored;
  window.panel = await jupyterapp.commands.execute("docmanager:open", {path});
  await panel.revealed;
  await panel.sessionContext.ready;
  await panel.sessionContext.session.kernel.info;
  return true;
}"""
# Cells are typeset one after the other, and a notebook that is closed meanwhile complains.
TYPESET = """() => [...document.querySelectorAll(".jp-MarkdownCell .jp-InputArea")]
  .map((area) => area.lastElementChild)
  .every((last) => !last.matches(".jp-InputArea-editor") && last.textContent.trim())"""
# Nothing is saved, and nobody waits for the end of the kernel; what it was still asked fails at once.
CLOSE = """async () => {
  const {id} = panel.sessionContext.session;
  panel.dispose();
  void jupyterapp.serviceManager.sessions.shutdown(id);
  await new Promise((done) => setTimeout(done));
}"""
QUICK = "03_study"  # measures little
# Cells by their number among those with code, one after the other.
RUN = """async (numbers) => {
  const cells = panel.content.widgets.filter((cell) => cell.model.type === "code");
  for (const number of numbers) {
    panel.content.deselectAll();
    panel.content.activeCellIndex = panel.content.widgets.indexOf(cells[number]);
    await jupyterapp.commands.execute("notebook:run-cell");
  }
}"""
CODE = "panel.content.widgets.filter((cell) => cell.model.type === 'code')"
COUNTS = f"() => {CODE}.map((cell) => cell.model.executionCount)"
FINISHED = f"""() => {{
  const prompts = [...document.querySelectorAll(".jp-Notebook .jp-InputPrompt")].map((e) => e.textContent);
  const failed = document.querySelector("[data-mime-type='application/vnd.jupyter.error']");
  return {CODE}.every((cell) => cell.model.executionCount) || (failed && !prompts.includes("[*]:"));
}}"""


class Server:
    """A Jupyter server in a folder, with nobody's settings but its own, which it keeps beside its log."""

    def __init__(self, module: str, work: Path, own: Path, *options: str) -> None:
        folders = {
            "JUPYTER_CONFIG_DIR": "config",
            "JUPYTER_DATA_DIR": "data",
            "JUPYTER_RUNTIME_DIR": "runtime",
            "JUPYTERLAB_SETTINGS_DIR": "settings",
            "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
            "IPYTHONDIR": "ipython",
        }
        variables = environment(**{name: str(own / folder) for name, folder in folders.items()})
        variables.pop("SCALELAB_FIGURES", None)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        self.log = own / "log.txt"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", module, f"--ServerApp.port={port}", *OPTIONS, *options],
                cwd=work, env=variables, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip

    def wait(self) -> None:
        for _ in range(900):
            if self.process.poll() is not None:
                break
            try:
                urllib.request.urlopen(f"{self.address}/api/status?token={TOKEN}", timeout=10)
                return
            except OSError:  # refused, reset or too slow
                time.sleep(0.1)
        pytest.fail(
            f"expected a Jupyter server to answer within 90 s, it did not:\n{self.log.read_text()[-3000:]}"
        )

    def stop(self) -> None:
        """End the server and its kernels; whoever does not listen is killed."""
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


@contextlib.contextmanager
def serving(module: str, work: Path, own: Path, *options: str):
    """Yield a server that answers, and end it."""
    one = Server(module, work, own, *options)
    try:
        one.wait()
        yield one
    finally:
        one.stop()


def install(data: Path) -> None:
    """Put into JupyterLab's data what pip puts there, as pyproject.toml says."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    for place, patterns in project["tool"]["setuptools"]["data-files"].items():
        folder = data / Path(place).relative_to("share/jupyter")
        folder.mkdir(parents=True)
        for file in (one for pattern in patterns for one in ROOT.glob(pattern)):
            shutil.copy(file, folder)


@pytest.fixture(scope="module")
def lab(browser, tmp_path_factory):
    """A visit to JupyterLab on copies of the notebooks; without a browser it is not started."""
    folder = tmp_path_factory.mktemp("lab")
    work = folder / "work"
    for name in ("chapters", "exercises"):
        shutil.copytree(
            ROOT / name, work / name, ignore=shutil.ignore_patterns(".ipynb_checkpoints")
        )
    figures_alone(work / "figures")
    shutil.copy(ROOT / "nbgrader_config.py", work)
    overrides = folder / "config" / "labconfig" / "default_setting_overrides.json"
    overrides.parent.mkdir(parents=True)
    overrides.write_text(json.dumps(SETTINGS))
    install(folder / "data")
    with (
        serving("jupyterlab", work, folder, *LAB_OPTIONS) as server,
        visiting(browser, home=server.address, viewport={"width": 1400, "height": 1000}) as visit,
    ):
        visit.context.set_default_timeout(PATIENCE)
        visit.page.goto(f"{server.address}/lab?token={TOKEN}&reset")
        visit.page.wait_for_function("window.jupyterapp")
        yield visit


def made(target: str) -> list[str]:
    """Return the options of the Jupyter program that `make` starts for that target."""
    lines = (ROOT / "Makefile").read_text().replace("\\\n", " ").splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith(f"{target}:"))
    return [
        word for word in lines[at + 1].replace("$(CURDIR)", str(ROOT)).split() if word[0] == "-"
    ]


def test_make_lab_opens_the_first_chapter_and_asks_about_nothing(browser, tmp_path):
    """JupyterLab asks whether one wants news, over the text, and looks for a newer version of itself."""
    work, own = tmp_path / "work", tmp_path / "own"
    (work / "chapters").mkdir(parents=True)
    shutil.copy(ROOT / "chapters" / "01_speedup.ipynb", work / "chapters")
    install(own / "data")
    with (
        serving("jupyterlab", work, own, *made("lab")) as server,
        visiting(browser, home=server.address) as visit,
    ):
        asked: list[str] = []
        visit.page.on("request", lambda one: asked.append(urllib.parse.urlsplit(one.url).path))
        visit.page.goto(f"{server.address}/?token={TOKEN}")
        visit.page.locator(".jp-MarkdownCell h1").first.wait_for(timeout=PATIENCE)
        expect(visit.page.locator(".jp-MarkdownCell .big-picture").first).to_be_visible()
        # News are asked for as soon as this plugin has its settings.
        expect(visit.page.locator(".jp-Notification-Status")).to_be_visible(timeout=PATIENCE)
        visit.page.wait_for_load_state("networkidle")
        assert visit.page.locator(".Toastify__toast").all_inner_texts() == []
        assert not [one for one in asked if one.endswith(("/lab/api/news", "/lab/api/update"))]
        assert [one for one in asked if "/lab/api/settings" in one]
        nothing(visit.outside)


@contextlib.contextmanager
def opened(lab, path: str):
    """Yield the page with a notebook open and its kernel ready; all must have gone without a fault."""
    lab.page.wait_for_function(OPEN, arg=path)
    try:
        lab.page.wait_for_function(TYPESET)
        yield lab.page
    finally:
        lab.page.keyboard.press("Escape")  # leave a dialog
        faults = [*lab.faults]  # before closing makes some of its own
        lab.page.evaluate(CLOSE)
        for some in (lab.outside, lab.missing, lab.errors):
            some.clear()
    nothing(faults)


def start_all(page) -> None:
    """Choose Run All Cells in the menu."""
    every = page.get_by_role("menuitem", name="Run All Cells", exact=True)
    for _ in range(5):  # what comes into focus meanwhile closes the menu
        page.get_by_role("menuitem", name="Run", exact=True).click()
        with contextlib.suppress(TimeoutError):
            every.click(timeout=PATIENCE / 10)
            return
        page.keyboard.press("Escape")
    pytest.fail("the menu Run does not stay open")


def finish_all(page) -> None:
    """Wait until the last cell has run or one has failed, and see that all have."""
    page.wait_for_function(FINISHED, timeout=SECONDS_TO_RUN * 1000, polling=250)
    no_fault_shows(page)
    counts = page.evaluate(COUNTS)
    assert counts == [number for number, _ in enumerate(counts, 1)]


def no_fault_shows(page) -> None:
    """Look for what no cell may show."""
    shown = page.locator(".jp-OutputArea-output")
    for kind in ("error", "stderr"):
        nothing(
            shown.and_(
                page.locator(f"[data-mime-type='application/vnd.jupyter.{kind}']")
            ).all_inner_texts()
        )


@pytest.mark.thorough  # the build has run every cell, and the assignment below runs to its end
def test_a_chapter_runs_to_its_end_and_its_sliders_move(lab):
    with opened(lab, f"chapters/{QUICK}.ipynb") as page:
        start_all(page)
        finish_all(page)
        words = page.locator(".sl-table .sl-words")
        assert {*words.evaluate_all("all => all.map((e) => getComputedStyle(e).textAlign)")} == {
            "left"
        }
        sliders_move(page, [made_anew(QUICK, at) for at, _ in enumerate(explored(QUICK))])


# To open a chapter takes seconds for each screen of its text; today's two are opened whole.
WHOLE = random.Random(seed()).sample(WRITTEN, 2)
FIGURES = [(slug, at) for slug in WRITTEN if slug != QUICK for at, _ in enumerate(explored(slug))]


def figures_alone(folder: Path) -> None:
    """Put into a folder, for each chapter, a notebook of its imports and its figures to play with."""
    folder.mkdir()
    for slug in WRITTEN:
        notebook = nbformat.read(ROOT / "chapters" / f"{slug}.ipynb", as_version=4)
        codes = [cell for cell in notebook.cells if cell.cell_type == "code"]
        notebook.cells = [codes[0], *(cell for cell in codes if cell.source in explored(slug))]
        nbformat.write(notebook, folder / f"{slug}.ipynb")


@pytest.fixture(scope="class")
def imported(lab):
    """Return a way to a chapter of which the imports have run; it stays until another is asked for."""
    with contextlib.ExitStack() as stack:
        known = {}

        def go(slug):
            if slug not in known:
                known.clear()
                stack.close()
                folder = "chapters" if slug in WHOLE else "figures"
                known[slug] = stack.enter_context(opened(lab, f"{folder}/{slug}.ipynb"))
                known[slug].evaluate(RUN, [0])
                known[slug].figures = 0
            return known[slug]

        yield go


class TestOnTopOfItsChaptersImports:
    @pytest.mark.parametrize(
        ("slug", "at"), sampled([pytest.param(*one, id="{}-{}".format(*one)) for one in FIGURES], 1)
    )
    def test_a_figure_moves(self, imported, slug, at):
        page, cells = imported(slug), chapter(slug).code
        page.evaluate(RUN, [cells.index(explored(slug)[at]) if slug in WHOLE else 1 + at])
        no_fault_shows(page)
        page.figures += 1
        its_sliders_move(boxes_with_sliders(page, page.figures).last, made_anew(slug, at))


SAVED = """async (path) => {
  await jupyterapp.commands.execute("docmanager:save");
  const { content } = await jupyterapp.serviceManager.contents.get(path);
  return Object.fromEntries(content.cells.map(({ id, source }) => [id, source]));
}"""


def themed(page, theme: str) -> None:
    """Turn JupyterLab to a theme."""
    page.evaluate("(theme) => jupyterapp.commands.execute('apputils:change-theme', {theme})", theme)
    light = "true" if theme.endswith("Light") else "false"
    page.wait_for_function(f"document.body.dataset.jpThemeLight === '{light}'")


def tones() -> dict[str, dict[str, str]]:
    """Return the colour that each kind of box has in the book, by theme."""
    css = (ROOT / "book" / "_static" / "book.css").read_text()
    kinds = re.findall(r"^\.admonition\.([\w-]+) \{ --tone: var\(--book-(\w+)\)", css, re.MULTILINE)
    parts = css.partition('html[data-theme="dark"]')
    light, dark = (dict(re.findall(r"--book-(\w+): (#\w{6})", parts[at])) for at in (0, 2))
    return {
        theme: {kind: colours[name] for kind, name in kinds}
        for theme, colours in (("JupyterLab Light", light), ("JupyterLab Dark", dark))
    }


@pytest.fixture(scope="class")
def quick(lab):
    """The page with a chapter of which no cell has run."""
    with opened(lab, f"chapters/{QUICK}.ipynb") as page:
        yield page


class TestAChapterThatWasJustOpened:
    def test_a_guess_is_typed_into_its_line_at_one_click_and_saved_with_the_notebook(self, quick):
        quick.locator(".jp-RawCell .cm-content").first.click()
        quick.keyboard.press("End")
        quick.keyboard.type("a tenth")
        saved = quick.evaluate(SAVED, f"chapters/{QUICK}.ipynb")
        lines = {name: text for name, text in saved.items() if name.endswith("-mine")}
        assert lines == {
            "one-fact-guess-mine": "Your guess: a tenth",
            "here-guess-mine": "Your guess: ",
        }

    def test_a_box_has_the_colour_that_it_has_in_the_book(self, quick):
        for theme, colours in tones().items():
            themed(quick, theme)
            seen = quick.locator(".jp-Notebook .myst-admonition").evaluate_all(
                "all => all.map((e) => [[...e.classList], getComputedStyle(e).borderLeftColor])"
            )
            known = [(set(names) & set(colours), colour) for names, colour in seen]
            known = [(kinds.pop(), colour) for kinds, colour in known if kinds]
            assert len({kind for kind, _ in known}) >= 5
            for kind, colour in known:
                assert (
                    "#{:02x}{:02x}{:02x}".format(*map(int, re.findall(r"\d+", colour)))
                    == colours[kind]
                )

    def test_a_drawing_plays(self, quick):
        cells, names = chapter(QUICK).code, {}
        drawn = next(number for number, cell in enumerate(cells) if "drawings.Stepper(" in cell)
        exec(cells[0], names)
        first, second = eval(cells[drawn], names).drawings
        quick.evaluate(RUN, [0, drawn])
        no_fault_shows(quick)
        figure = quick.locator(".sl-figure:has(.sl-stepper)")
        caption, slider = figure.locator(".sl-caption"), figure.get_by_role("slider", name="step")
        expect(caption).to_have_text(first.frames[first.opening].caption, timeout=PATIENCE)
        figure.get_by_role("button", name="Step", exact=True).click()
        expect(caption).to_have_text(first.frames[first.opening + 1].caption)
        slider.press("End")
        expect(caption).to_have_text(first.frames[-1].caption)
        figure.locator("select").select_option(second.name)
        expect(caption).to_have_text(second.frames[second.opening].caption)
        nothing(overlapping(figure.locator(".sl-readouts :is(dt, dd):visible")))
        looks_like_a_fold(figure.locator("details > summary"))


def sliders_move(page, replays: list) -> None:
    """Hold the figures to play with against those that Python makes anew."""
    assert replays
    for box, replay in zip(boxes_with_sliders(page, len(replays)).all(), replays, strict=True):
        its_sliders_move(box, replay)


def boxes_with_sliders(page, count: int):
    """Return the figures to play with, once there are so many."""
    boxes = page.locator(".widget-vbox:has([role=slider])")
    expect(boxes).to_have_count(count, timeout=PATIENCE)
    return boxes


def its_sliders_move(box, replay) -> None:
    """Hold two positions of each slider against what Python shows there."""
    place = [one.values.index(one.start) for one in replay.sliders.values()]
    handles, readouts = box.get_by_role("slider").all(), box.locator(".widget-readout").all()
    picture = box.locator(".sl-figure svg[role=img]")
    for at, (handle, readout, slider) in enumerate(
        zip(handles, readouts, replay.sliders.values(), strict=True)
    ):
        last = len(slider.values) - 1
        for key, position in (("End", last), ("ArrowLeft", last - 1)):
            handle.press(key)
            place[at] = position
            frame = replay.frames[np.ravel_multi_index(place, replay.shape)]
            expect(readout).to_have_text(slider.texts[place[at]], timeout=PATIENCE)
            expect(picture).to_have_attribute("aria-label", frame.describe(), timeout=PATIENCE)
    nothing(overlapping(box.locator(".sl-readouts :is(dt, dd)")))
    # Asked of the box and at once: the picture in it may be replaced between two questions.
    title, key = box.evaluate(
        "(box) => ['.sl-title', '.sl-legend li'].map((one) =>"
        " box.querySelector(`.sl-figure ${one}`).getBoundingClientRect().x)"
    )
    assert key == pytest.approx(title, abs=1), "the legend is set in"
    # Somewhere else than where it begins, wherever the last of the keys has led.
    first = next(iter(replay.sliders.values()))
    key, place[0] = (
        ("Home", 0) if first.start != first.values[0] else ("End", len(first.values) - 1)
    )
    handles[0].press(key)
    away = replay.frames[np.ravel_multi_index(place, replay.shape)]
    expect(picture).to_have_attribute("aria-label", away.describe(), timeout=PATIENCE)
    box.get_by_role("button", name="The numbers").click()
    numbers = box.locator("table")
    before = numbers.text_content()
    box.get_by_role("button", name="Reset").click()
    expect(picture).to_have_attribute("aria-label", replay.chart.describe(), timeout=PATIENCE)
    expect(numbers).to_be_visible()
    expect(numbers).not_to_have_text(before, timeout=PATIENCE)
    for readout, slider in zip(readouts, replay.sliders.values(), strict=True):
        expect(readout).to_have_text(slider.texts[slider.values.index(slider.start)])


def overlapping(words) -> list[str]:
    """Return which of some words are printed over each other."""
    places = words.evaluate_all(
        """all => all.map((e) => {
          const range = document.createRange();
          range.selectNodeContents(e);
          const { left, right, top, bottom } = range.getBoundingClientRect();
          return [e.textContent, left, right, top, bottom];
        })"""
    )
    return [
        f"{one[0]!r} over {other[0]!r}"
        for one, other in itertools.combinations(places, 2)
        if min(one[2], other[2]) - max(one[1], other[1]) > 1
        and min(one[4], other[4]) - max(one[3], other[3]) > 1
    ]


def looks_like_a_fold(summary) -> None:
    """See that a line has a mark and a hand, and that the mark turns."""
    names = "display", "cursor", "list-style-type"
    look = f"e => {[*names]}.map((name) => getComputedStyle(e).getPropertyValue(name))"
    assert summary.evaluate(look) == ["list-item", "pointer", "disclosure-closed"]
    summary.click()
    assert summary.evaluate(look) == ["list-item", "pointer", "disclosure-open"]


@pytest.fixture(scope="module", params=sampled(WRITTEN, 1))
def assignment(request, lab):
    """The page with an assignment as it was released."""
    with opened(lab, f"exercises/{request.param}/{request.param}.ipynb") as page:
        yield page


def test_an_assignment_tells_what_is_not_attempted(assignment):
    start_all(assignment)
    finish_all(assignment)
    said = assignment.locator(".jp-OutputArea-output").filter(has_text="not attempted")
    assert said.count() >= 3


def test_checks_and_numbers_are_one_line_until_somebody_opens_them(assignment):
    folds = assignment.locator(".jp-InputPlaceholder")
    titles = folds.all_inner_texts()
    assert len(titles) >= 10
    assert all(
        re.match(r"# (Check of|Your numbers for|Where you stand)", title) for title in titles
    )
    cell = assignment.locator(".jp-CodeCell").filter(has=folds.first)
    expect(cell.locator(".jp-InputArea-editor")).to_be_hidden()
    number = assignment.locator(".jp-CodeCell").evaluate_all(
        "cells => cells.findIndex((cell) => cell.querySelector('.jp-InputPlaceholder'))"
    )
    folds.first.click()
    opened = assignment.locator(".jp-CodeCell").nth(number)
    expect(opened.locator(".jp-InputArea-editor")).to_be_visible()


def test_a_hint_looks_like_something_to_click(assignment):
    looks_like_a_fold(assignment.locator(".jp-MarkdownCell summary").first)


def test_what_a_cell_prints_breaks_between_words_and_tables_keep_together(assignment):
    printed = assignment.locator(".jp-OutputArea-output.jp-RenderedText pre").first
    assert printed.evaluate("e => getComputedStyle(e).wordBreak") == "normal"
    table = assignment.locator(".jp-MarkdownCell table").first
    wide, needed, paper = table.evaluate(
        """e => {
            const wide = e.getBoundingClientRect().width
            e.style.width = "max-content"
            return [wide, e.getBoundingClientRect().width, e.parentElement.clientWidth]
        }"""
    )
    assert wide == pytest.approx(min(needed, paper), abs=2)


def test_the_last_cell_says_where_one_stands_and_no_cell_shows_bare_points(assignment):
    said = assignment.locator(".jp-OutputArea-output")
    title = re.compile(r"^Where you stand: [\d.]+ of \d+ points")
    expect(said.last).to_have_text(title)
    assert not [text for text in said.all_inner_texts() if re.fullmatch(r"\s*[\d.]+\s*", text)]


@pytest.mark.parametrize("theme", ["JupyterLab Dark", "JupyterLab Light"])
def test_a_verdict_reads_in_every_theme_and_without_colour(assignment, theme):
    themed(assignment, theme)
    block = assignment.locator(".jp-OutputArea-output div[style*='border-left']").first
    paper = assignment.locator(".jp-Notebook").first.evaluate(
        "e => getComputedStyle(e).backgroundColor"
    )
    for part in block.locator("b, span, div").all():
        ink = part.evaluate("e => getComputedStyle(e).color")
        assert contrast(ink, paper) >= (3 if part.evaluate("e => e.tagName") == "SPAN" else 4.5)
    marks = block.locator("span").all()
    assert marks
    assert all(
        mark.inner_text().strip() in "✓✗◔○" and mark.get_attribute("title") for mark in marks
    )


def contrast(*colours: str) -> float:
    """Return the contrast of two colours as a browser writes them, by the formula of WCAG 2.2."""

    def luminance(colour):
        shares = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, light = sorted(map(luminance, colours))
    return (light + 0.05) / (dark + 0.05)


def test_the_validate_button_shows_the_report_of_each_task(assignment):
    assignment.get_by_role("button", name="Validate", exact=True).click()
    dialog = assignment.get_by_role("dialog")
    expect(dialog).to_contain_text("Validation Results", timeout=SECONDS_TO_RUN * 1000)
    assert dialog.inner_text().count("not attempted") >= 3
    assert "Traceback" not in dialog.inner_text()
    parts = dialog.locator("pre").evaluate_all(
        "all => all.map((e) => [e.textContent, e.clientHeight / parseFloat(getComputedStyle(e).lineHeight)])"
    )
    for (source, lines), (report, _) in zip(parts[::2], parts[1::2], strict=True):
        assert lines <= 1, "the source stands between the task and its report"
        for_a_person = "did not provide a response" in report
        assert re.match(r"\*\*\d\.\d " if for_a_person else r"# Check of [\d.]+:", source)
