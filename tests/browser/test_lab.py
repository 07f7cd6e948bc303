"""JupyterLab itself: a chapter runs from top to bottom, its sliders move, an assignment answers."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import nothing
from tests.browser.test_figures import explored, made_anew
from tests.notebooks import ROOT, WRITTEN

TOKEN = "known-to-this-test-only"
SECONDS_TO_RUN = 240  # a chapter keeps to 60 on a machine that does nothing else
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
    "--LabApp.extension_manager=readonly",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    f"--IdentityProvider.token={TOKEN}",
)
FINISHED = """() => {
  const prompts = [...document.querySelectorAll(".jp-Notebook .jp-InputPrompt")].map((e) => e.textContent);
  return prompts.some((text) => /\\d/.test(text)) && !prompts.includes("[*]:");
}"""

slugs = pytest.mark.parametrize("slug", WRITTEN)


class Server:
    """A JupyterLab server on copies of the notebooks, with nobody's settings but its own."""

    def __init__(self, folder) -> None:
        work = folder / "work"
        for name in ("chapters", "exercises"):
            shutil.copytree(
                ROOT / name, work / name, ignore=shutil.ignore_patterns(".ipynb_checkpoints")
            )
        shutil.copy(ROOT / "nbgrader_config.py", work)
        overrides = folder / "config" / "labconfig" / "default_setting_overrides.json"
        overrides.parent.mkdir(parents=True)
        overrides.write_text(json.dumps(SETTINGS))
        own = {
            "JUPYTER_CONFIG_DIR": "config",
            "JUPYTER_DATA_DIR": "data",
            "JUPYTER_RUNTIME_DIR": "runtime",
            "JUPYTERLAB_SETTINGS_DIR": "settings",
            "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
            "IPYTHONDIR": "ipython",
        }
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        self.log = folder / "log.txt"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "jupyterlab", f"--ServerApp.port={port}", *OPTIONS],
                cwd=work,
                env=os.environ | {name: str(folder / value) for name, value in own.items()},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def ask(self, path: str, method: str = "GET"):
        request = urllib.request.Request(
            f"{self.address}/api/{path}", method=method, headers={"Authorization": f"token {TOKEN}"}
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer) if answer.status == 200 else None

    def kernels(self) -> list:
        """Return its kernels; none while it starts one, when the server answers with an error (500)."""
        try:
            return self.ask("kernels")
        except urllib.error.HTTPError as error:
            if error.code != 500:
                raise
            return []

    def wait(self) -> None:
        for _ in range(300):
            if self.process.poll() is not None:
                break
            try:
                self.ask("status")
                return
            except OSError:  # refused, reset or too slow
                time.sleep(0.1)
        pytest.fail(
            f"expected JupyterLab to answer within 30 s, it did not:\n{self.log.read_text()[-3000:]}"
        )

    def stop(self) -> None:
        """End the server and its kernels; whoever does not listen is killed."""
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


@pytest.fixture(scope="module")
def server(browser, tmp_path_factory):
    """One server for all tests of this file; without a browser it is not started."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("SCALELAB_FIGURES", raising=False)
        one = Server(tmp_path_factory.mktemp("lab"))
    try:
        one.wait()
        yield one
    finally:
        one.stop()


@pytest.fixture
def opened(server, visit):
    """Return a way to open a notebook; its kernel ends with the test."""

    def start(path: str):
        one = visit(home=server.address, viewport={"width": 1400, "height": 1000})
        one.page.goto(f"{server.address}/lab/tree/{path}?token={TOKEN}&reset")
        for _ in range(600):
            kernels = server.kernels()
            if kernels and kernels[0]["connections"] and kernels[0]["execution_state"] == "idle":
                return one.page
            one.page.wait_for_timeout(100)
        return pytest.fail(f"expected a kernel for {path} within 60 s, got {kernels}")

    yield start
    for kernel in server.kernels():
        server.ask(f"kernels/{kernel['id']}", "DELETE")


def run_all(page) -> None:
    """Choose Run All Cells in the menu, and wait until the last cell has run or one has failed."""
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    page.wait_for_function(FINISHED, timeout=SECONDS_TO_RUN * 1000)
    shown = page.locator(".jp-OutputArea-output")
    for kind in ("error", "stderr"):
        nothing(
            shown.and_(
                page.locator(f"[data-mime-type='application/vnd.jupyter.{kind}']")
            ).all_inner_texts()
        )
    prompts = page.locator(".jp-Notebook .jp-CodeCell .jp-InputPrompt").all_inner_texts()
    assert prompts == [f"[{number}]:" for number, _ in enumerate(prompts, 1)]


@slugs
def test_a_chapter_runs_to_its_end_and_its_sliders_move(opened, slug):
    page = opened(f"chapters/{slug}.ipynb")
    run_all(page)
    boxes = page.locator(".widget-vbox:has([role=slider])")
    assert boxes.count() == len(explored(slug)) > 0
    for number, box in enumerate(boxes.all()):
        replay = made_anew(slug, number)
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
                expect(readout).to_have_text(slider.texts[place[at]])
                expect(picture).to_have_attribute("aria-label", frame.describe())


@slugs
def test_an_assignment_tells_what_is_not_attempted(opened, slug):
    page = opened(f"exercises/{slug}/{slug}.ipynb")
    run_all(page)
    said = page.locator(".jp-OutputArea-output").filter(has_text="not attempted")
    assert said.count() >= 3


@slugs
def test_the_validate_button_shows_the_report_of_each_task(opened, slug):
    page = opened(f"exercises/{slug}/{slug}.ipynb")
    page.get_by_role("button", name="Validate", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Validation Results", timeout=SECONDS_TO_RUN * 1000)
    assert dialog.inner_text().count("not attempted") >= 3
    assert "Traceback" not in dialog.inner_text()
