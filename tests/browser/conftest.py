"""A real browser over the built book: nobody outside answers, and what a page tries is written down."""

from __future__ import annotations

import contextlib
import os
import shutil

import pytest

from tests.conftest import processor
from tests.notebooks import ROOT

FLAGS = (
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--font-render-hinting=none",  # as Chromium with a window has it: letters are as wide
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # A visit notes what asks outside, and this lets nobody answer.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
# Mathematics and icons take most of the time that a page needs to open; a test of neither goes without.
ORNAMENTS = ("*/_static/mathjax/*", "*/_static/scripts/fontawesome*")
PATIENCE = 120_000  # milliseconds, a safety net: nothing here says how fast a machine is
MOST = 12  # faults that one report lists
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
SETTLED = """async () => {
  await window.MathJax?.startup?.promise;
  await document.fonts.ready; // MathJax asks for its fonts only now
}"""


def pytest_collection_modifyitems(items):
    """Mark every test of this folder."""
    here = os.path.dirname(__file__)
    for item in items:
        if str(item.path).startswith(here):
            item.add_marker("browser")


def nothing(faults: list) -> None:
    """Fail unless the list is empty, and say what is in it, a line each."""
    more = [f"and {len(faults) - MOST} more"] if len(faults) > MOST else []
    if faults:
        pytest.fail("\n".join(map(str, [*faults[:MOST], *more])), pytrace=False)


class Visit:
    """One reader with a fresh profile who may reach only `home`, and what went wrong meanwhile."""

    def __init__(self, browser, home: str = "file://", *, plain: bool = False, **options) -> None:
        self.home = home
        self.scripted = options.get("java_script_enabled", True)
        self.outside: list[str] = []
        self.missing: list[str] = []
        self.errors: list[str] = []
        self.context = browser.new_context(service_workers="block", **options)
        self.context.set_default_timeout(PATIENCE)
        # Only listened to: a page whose every request is held until we answer takes twice as long to open.
        self.context.on("request", lambda request: self._local(request.url))
        self.context.on("requestfailed", self._failed)
        self.context.on("response", self._answered)
        self.context.on("console", self._console)
        self.context.on("weberror", lambda fault: self.errors.append(str(fault.error)))
        self.page = self.context.new_page()
        if plain:
            wire = self.context.new_cdp_session(self.page)
            wire.send("Network.enable")
            wire.send("Network.setBlockedURLs", {"urls": [*ORNAMENTS]})
        self.page.on("websocket", lambda socket: self._local(socket.url.replace("ws", "http", 1)))

    def open(self, address: str) -> None:
        """Go there, and wait until mathematics and fonts are in place."""
        self.page.goto(address)
        self.page.evaluate(SETTLED)

    def forget(self) -> None:
        """Begin anew with what goes wrong."""
        for faults in (self.outside, self.missing, self.errors):
            faults.clear()

    @property
    def faults(self) -> list[str]:
        return [
            *(f"asked outside: {url}" for url in self.outside),
            *(f"missing: {url}" for url in self.missing),
            *(f"error: {text}" for text in self.errors),
        ]

    def _local(self, url: str) -> None:
        if not url.startswith(self.home):
            self.outside.append(url)

    def _failed(self, request) -> None:
        # The page left before the answer came, or was to go without.
        left = request.failure in ("net::ERR_ABORTED", "inspector")
        unwanted = request.resource_type == "script" and not self.scripted
        if request.url.startswith(self.home) and not left and not unwanted:
            self.missing.append(request.url)

    def _answered(self, response) -> None:
        if response.status >= 400:
            self.missing.append(f"{response.url} ({response.status})")

    def _console(self, message) -> None:
        repeats = message.text.startswith(
            "Failed to load resource"
        )  # counted above, with its address
        if message.type == "error" and not repeats:
            self.errors.append(message.text)


@contextlib.contextmanager
def walking(browser, **options):
    """Yield a Visit that goes from page to page, and opens each as if it were its first."""
    with visiting(browser, **options) as visit:
        visit.context.add_init_script("location.protocol === 'file:' && sessionStorage.clear()")
        yield visit


@contextlib.contextmanager
def visiting(browser, **options):
    """Yield a Visit and end it."""
    visit = Visit(browser, **options)
    try:
        yield visit
    finally:
        visit.context.close()


def found() -> str | None:
    """Return where a browser is."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


@contextlib.contextmanager
def chromium():
    """Yield a running browser and end it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        one = play.chromium.launch(executable_path=found(), args=FLAGS)
        yield one
        one.close()


@pytest.fixture(scope="package")
def browser(request):
    """Return one Chromium for all tests of this folder.

    It ends with the folder: while it lives, its event loop stands in the way of tests that start their own.
    """
    if found() is None:
        say = pytest.fail if os.environ.get("SCALELAB_REQUIRE_BROWSER") == "1" else pytest.skip
        say(f"expected a browser named {', '.join(NAMES)}, found none: install Debian's chromium")
    with chromium() as one:
        yield one
        ended = processor()
    request.config.began += processor() - ended  # what it took is not the last test's


@pytest.fixture(scope="session")
def book():
    """Return the folder of the built book."""
    folder = ROOT / "_build" / "html"
    if not (folder / "index.html").exists():
        pytest.fail(f"expected the built book in {folder}, found none: run `make book` first")
    return folder


@pytest.fixture
def visit(browser):
    """Return a way to open fresh visits; each must have gone without a fault when the test ends."""
    with contextlib.ExitStack() as stack:
        visits: list[Visit] = []

        def start(**options) -> Visit:
            visits.append(stack.enter_context(visiting(browser, **options)))
            return visits[-1]

        yield start
        faults = [fault for one in visits for fault in one.faults]
    nothing(faults)
