"""What readers tell a page stays in their browser: their hardware, what they guessed, how far they read."""

import pytest
from playwright.sync_api import expect

from scalelab.show.plots import roofline
from tests.browser.conftest import nothing, visiting
from tests.notebooks import WRITTEN, chapter
from tests.sampling import sampled

pytestmark = pytest.mark.turns(3)


@pytest.fixture(scope="module")
def reader(browser):
    with visiting(browser, plain=True) as visit:
        yield visit


@pytest.fixture
def stranger(reader, book):
    """Somebody of whom nothing is kept, at a file of the book that shows no page."""
    reader.forget()
    reader.page.goto((book / "_static" / "guess.js").as_uri())
    reader.page.evaluate("localStorage.clear(); sessionStorage.clear()")
    yield reader
    nothing(reader.faults)


@pytest.fixture
def panel(stranger, book):
    """The page that asks for the hardware, opened by a stranger."""
    stranger.open((book / "book" / "my_hardware.html").as_uri())
    return stranger


def kept(one):
    return one.page.evaluate("JSON.parse(localStorage.getItem('scalelab-hardware'))")


def name_device(one, book, name):
    one.open((book / "book" / "my_hardware.html").as_uri())
    one.page.get_by_label("Device", exact=True).select_option(name)


def come(one, read, wanted):
    """Hold what is read against what is wanted, once it is there: it may come late from page to page."""
    for _ in range(100):
        if read(one) == wanted:
            return
        one.page.wait_for_timeout(50)
    assert read(one) == wanted


def shown(one):
    sliders = one.page.locator("input[data-follows='peak bandwidth']")
    return [slider.get_attribute("aria-valuetext") for slider in sliders.all()]


def test_a_device_is_kept_and_the_roofline_of_another_page_starts_from_it(panel, book):
    panel.page.get_by_label("Device", exact=True).select_option("A100 SXM 80GB")
    assert kept(panel)["device"] == "A100 SXM 80GB"
    assert (
        "ridge of this device is 153" in panel.page.locator("#hardware-panel output").inner_text()
    )
    panel.open((book / "chapters" / "07_roofline.html").as_uri())
    figure = panel.page.locator(".sl-figure:has(input[data-follows])").last
    slider = figure.locator("input[data-follows]")
    come(panel, lambda _: slider.get_attribute("aria-valuetext"), "A100 SXM 80GB")
    slider.press("End")
    figure.get_by_role("button", name="Reset").click()
    assert slider.get_attribute("aria-valuetext") == "A100 SXM 80GB"
    mine = panel.page.locator(".book-time .book-mine")
    expect(mine).to_have_text("A100 SXM 80GB")
    figures = panel.page.locator(".sl-figure:has(input[data-follows])").count()
    told = panel.page.locator(".book-time").inner_text()
    assert f"figures, of which {figures} can start from A100 SXM 80GB" in told
    mine.click()
    panel.page.wait_for_url("**/my_hardware.html")
    device = panel.page.get_by_label("Device", exact=True)
    come(panel, lambda _: device.input_value(), "A100 SXM 80GB")


@pytest.mark.parametrize(
    "name", sampled([name for name in roofline.YOURS.values if name != "H100 SXM"], 3)
)
def test_the_roofline_has_every_device_of_the_panel(panel, book, name):
    """A figure with few devices moves only for one that is like them; no laptop becomes an H100."""
    near = name if name in roofline.FOUND.values else "H100 SXM"
    near = "H200 SXM" if name == "MI300X" else near
    name_device(panel, book, name)
    panel.open((book / "chapters" / "07_roofline.html").as_uri())
    come(panel, shown, [near, name])
    moved = 2 if near != "H100 SXM" else 1
    said = [one for one in notes(panel) if one.startswith("Starts nearest to your hardware")]
    assert len(said) == moved


def test_typed_numbers_move_a_figure_to_the_nearest_stop_and_clearing_forgets_them(panel, book):
    panel.page.get_by_label("Peak, dense").fill("400")
    panel.page.get_by_label("Memory bandwidth").fill("2")
    panel.page.get_by_label("Memory bandwidth").press("Tab")
    assert kept(panel)["ridge"] == pytest.approx(200)
    panel.open((book / "chapters" / "07_roofline.html").as_uri())
    come(panel, shown, ["H100 SXM", "A100 SXM 80GB"])
    panel.open((book / "book" / "my_hardware.html").as_uri())
    assert panel.page.get_by_label("Peak, dense").input_value() == "400"
    panel.page.get_by_role("button", name="Clear").click()
    assert kept(panel) is None


def test_what_fits_is_counted_for_the_memory_one_has_and_boxes_are_of_a_like_device(panel, book):
    for name, fits, box in (
        ("L4", "RTX 4090", "DGX H100"),
        ("A100 SXM 80GB", "H100 SXM", "DGX A100"),
        ("MI300X", "B200 SXM", "DGX H200"),
        ("EPYC 9654", "H100 SXM", "DGX H100"),
    ):
        name_device(panel, book, name)
        starts(panel, book, "02_hardware", {"memory": fits, "peak bandwidth": box})
    figure = panel.page.locator(".sl-figure", has=panel.page.locator("[data-follows=memory]"))
    assert "on H100 SXM" in figure.locator(".sl-title").inner_text()


def test_every_figure_that_follows_leads_to_the_panel_and_others_do_not(stranger, book):
    for name, count in (("02_hardware", 2), ("07_roofline", 2), ("09_cost", 1), ("05_laws", 0)):
        stranger.open((book / "chapters" / f"{name}.html").as_uri())
        links = stranger.page.locator(".sl-mine a")
        assert links.count() == count, name
        assert all(note.endswith(" to yours: My hardware.") for note in notes(stranger))
    stranger.open((book / "chapters" / "09_cost.html").as_uri())
    (note,) = notes(stranger)  # of two names, both without their units
    assert note == "Set the dollars per GPU and hour and the network to yours: My hardware."
    stranger.page.locator(".sl-mine a").click()
    expect(stranger.page.locator("#hardware-panel")).to_be_visible()


def starts(one, book, chapter, wanted):
    """Open a chapter, and hold what its sliders that follow come to say, by what they follow."""
    one.open((book / "chapters" / f"{chapter}.html").as_uri())
    come(one, stops, wanted)


def stops(one):
    sliders = one.page.locator("input[data-follows]")
    return {
        slider.get_attribute("data-follows"): slider.get_attribute("aria-valuetext")
        for slider in sliders.all()
    }


USUAL = {
    "08_network": {"latency": "5 µs", "network": "50 GB/s", "peak bandwidth": "DGX H100"},
    "09_cost": {"price": "2", "network": "10"},
}


def notes(one):
    return one.page.locator(".sl-mine").all_inner_texts()


@pytest.mark.thorough
def test_wire_and_price_move_the_figures_of_network_and_cost_until_they_are_forgotten(panel, book):
    """Stops nearest on a logarithmic scale; a reload keeps them, clearing restores what is printed."""
    panel.page.get_by_label("Network between").fill("14")  # 112 Gbit/s
    panel.page.get_by_label("Latency").fill("3")
    panel.page.get_by_label("Price").fill("3.1")
    panel.page.get_by_label("Price").press("Tab")
    moved = {"latency": "2 µs", "network": "12.5 GB/s"}
    starts(panel, book, "08_network", USUAL["08_network"] | moved)
    panel.page.reload()
    assert notes(panel) == [
        "Starts nearest to your hardware: latency α, link 1/β.",
        "Set the box to yours: My hardware.",
    ]
    slider = panel.page.get_by_role("slider", name="link 1/β")
    assert slider.get_attribute("aria-valuetext") == "12.5 GB/s"
    starts(panel, book, "09_cost", {"price": "3", "network": "100"})
    drawn = panel.page.locator(".sl-figure", has=panel.page.locator("[data-follows=price]"))
    title = drawn.locator(".sl-title").inner_text()
    assert title == "GPUs at $3 an hour, joined at 100 Gbit/s each"
    panel.open((book / "book" / "my_hardware.html").as_uri())
    panel.page.get_by_role("button", name="Clear").click()
    assert kept(panel) is None
    for name, usual in USUAL.items():
        starts(panel, book, name, usual)
    assert not any("Starts" in note for note in notes(panel))


def test_a_device_brings_its_memory_along_and_one_without_leaves_none(panel):
    device = panel.page.get_by_label("Device", exact=True)
    memory = panel.page.get_by_label("Memory capacity")
    device.select_option("H100 SXM")
    assert memory.input_value() == "85.52"
    device.select_option("EPYC 9654")
    assert memory.input_value() == ""
    assert "memory" not in kept(panel)


def test_the_ridge_is_told_by_the_memory_and_where_it_is_known_by_the_network(panel):
    said = panel.page.locator("#hardware-panel output")
    panel.page.get_by_label("Device", exact=True).select_option("H100 SXM")
    assert said.inner_text().endswith("is 295 FLOP per byte by its memory.")
    panel.page.get_by_label("Network between").fill("50")
    panel.page.get_by_label("Network between").press("Tab")
    assert said.inner_text().endswith("by its memory, 19,800 by the network.")


@pytest.mark.thorough
def test_a_device_moves_neither_the_network_nor_the_price(panel, book):
    panel.page.get_by_label("Device", exact=True).select_option("H100 SXM")
    for name, usual in USUAL.items():  # no list knows the network
        starts(panel, book, name, usual)


def test_a_price_or_a_latency_leaves_the_device_chosen(panel):
    panel.page.get_by_label("Device", exact=True).select_option("H100 SXM")
    for field in ("Price", "Latency"):
        panel.page.get_by_label(field).fill("4")
        panel.page.get_by_label(field).press("Tab")
    assert kept(panel)["device"] == "H100 SXM"
    assert kept(panel)["memory"] == pytest.approx(85.52e9)
    assert kept(panel)["latency"] == pytest.approx(4e-6)
    panel.page.get_by_label("Memory capacity").fill("200")
    panel.page.get_by_label("Memory capacity").press("Tab")
    assert "device" not in kept(panel)


@pytest.mark.parametrize(
    "hostile",
    sampled(
        ["{", "null", '{"peak": "x", "bandwidth": 1}', '{"peak": -1, "bandwidth": 1}', "[]"], 1
    ),
)
def test_whatever_else_is_kept_there_moves_nothing(panel, book, hostile):
    panel.page.evaluate("text => localStorage.setItem('scalelab-hardware', text)", hostile)
    panel.open((book / "chapters" / "07_roofline.html").as_uri())
    assert shown(panel) == ["H100 SXM", "H100 SXM"]


@pytest.mark.parametrize("news", sampled(["storage", "pageshow"], 1))
def test_hardware_that_arrives_late_is_followed_unless_somebody_has_moved_the_figure(
    stranger, book, news
):
    """Told in another tab, or on a page from which one comes back."""
    stranger.open((book / "chapters" / "07_roofline.html").as_uri())
    sliders = stranger.page.locator("input[data-follows='peak bandwidth']")
    sliders.first.press("End")
    moved = sliders.first.get_attribute("aria-valuetext")
    tell = """([known, news]) => {
      localStorage.setItem("scalelab-hardware", JSON.stringify(known));
      dispatchEvent(new Event(news));
    }"""
    stranger.page.evaluate(tell, [{"peak": 312e12, "bandwidth": 2039e9}, news])
    assert shown(stranger) == [moved, "A100 SXM 80GB"]
    assert "Starts nearest to your hardware" in notes(stranger)[1]
    stranger.page.evaluate(tell, [None, news])
    assert shown(stranger) == [moved, "H100 SXM"]
    assert "Set the device to yours: My hardware" in notes(stranger)[1]


EMPTY = """(() => {
  const [path, times] = (sessionStorage.getItem("lost") ?? "").split("|");
  if (path !== location.pathname || times === "0") return;
  sessionStorage.setItem("lost", `${path}|${times - 1}`);
  const value = { getItem: () => null, setItem: () => {} };
  Object.defineProperty(window, "localStorage", { value });
})()"""


@pytest.mark.parametrize("times", [1, 3])
def test_a_page_from_disk_that_the_browser_gave_an_empty_store_is_opened_again(visit, book, times):
    """As Chromium does, twice in a row too; and a reader who threw everything away meets no circle."""
    one = visit(plain=True)
    one.context.add_init_script(EMPTY)
    name_device(one, book, "B200 SXM")
    chapter = book / "chapters" / "07_roofline.html"
    one.page.evaluate(
        "lost => sessionStorage.setItem('lost', lost)", f"{chapter.as_posix()}|{times}"
    )
    one.open(chapter.as_uri())
    come(one, shown, ["B200 SXM", "B200 SXM"])
    one.page.evaluate("localStorage.clear()")
    one.open(chapter.as_uri())
    come(one, shown, ["H100 SXM", "H100 SXM"])
    assert one.page.evaluate("sessionStorage.getItem('scalelab-opened')") == "0"


GUESSED = "03_study"  # with two guesses, each answered by a cell of its own
FULL = """(() => {
  const { setItem } = Storage.prototype;
  Storage.prototype.setItem = function (key, text) {
    if (key.startsWith("scalelab")) throw new DOMException("", "QuotaExceededError");
    setItem.call(this, key, text);
  };
})()"""
WATCHED = """
  window.written = [];
  for (const name of ["setItem", "removeItem"]) {
    const real = Storage.prototype[name];
    Storage.prototype[name] = function (key, ...text) { written.push(key); real.call(this, key, ...text); };
  }"""
ASKED = {"one-fact-guess": "What one table says of the other", "here-guess": "taken in turns"}


def study(one, book):
    """Open the chapter, and return its fields by the cell that asks."""
    one.open((book / "chapters" / f"{GUESSED}.html").as_uri())
    return {name: one.page.locator(f"#{name}").get_by_label("Your guess") for name in ASKED}


def said(one):
    return one.page.locator(".guess-said").filter(visible=True)


def kept_guesses(one):
    keys = one.page.evaluate("Object.keys(localStorage)")
    return [key for key in keys if key.startswith("scalelab-guess")]


def test_a_guess_is_kept_and_said_again_beside_its_answer_alone(stranger, book):
    study(stranger, book)["one-fact-guess"].fill("<b>a tenth</b>")
    for _ in range(2):  # the second time, on a page that was opened anew
        expect(said(stranger)).to_have_text(["You guessed: <b>a tenth</b>"], use_inner_text=True)
        answer = stranger.page.locator(".cell", has=said(stranger))
        assert ASKED["one-fact-guess"] in answer.inner_text()
        fields = study(stranger, book)
        expect(fields["one-fact-guess"]).to_have_value("<b>a tenth</b>")
        expect(fields["here-guess"]).to_have_value("")


def test_a_guess_typed_in_one_tab_is_seen_and_forgotten_in_the_other(stranger, book):
    mine = study(stranger, book)["here-guess"]
    other = stranger.context.new_page()
    other.goto(stranger.page.url)
    field = other.locator("#here-guess").get_by_label("Your guess")
    quote = other.locator(".guess-said").filter(visible=True)
    mine.fill("weak")
    expect(field).to_have_value("weak")
    expect(quote).to_have_text(["You guessed: weak"], use_inner_text=True)
    mine.fill("")
    expect(field).to_have_value("")
    expect(quote).to_have_count(0)
    other.close()


def test_opening_a_page_writes_nothing_so_words_that_arrive_late_are_kept(visit, book):
    one = visit(plain=True)
    one.context.add_init_script(WATCHED)
    field = study(one, book)["here-guess"]
    assert [key for key in one.page.evaluate("written") if "guess" in key] == []
    tell = "([key, text]) => dispatchEvent(new StorageEvent('storage', { key, newValue: text }))"
    one.page.evaluate(tell, [f"scalelab-guess chapters/{GUESSED} here-guess", "late"])
    expect(field).to_have_value("late")
    field.fill("later")
    assert [key for key in one.page.evaluate("written") if "guess" in key] != []


def test_a_guess_is_reached_and_typed_with_the_keyboard_and_an_empty_one_is_forgotten(
    stranger, book
):
    field = study(stranger, book)["here-guess"]
    field.evaluate("""one => {
        const before = document.createElement("span");
        before.tabIndex = 0;
        one.closest(".admonition").before(before);
        before.focus();
    }""")
    stranger.page.keyboard.press("Tab")
    stranger.page.keyboard.type("weak")
    assert said(stranger).all_inner_texts() == ["You guessed: weak"]
    for _ in "weak":
        stranger.page.keyboard.press("Backspace")
    assert said(stranger).count() == 0
    assert kept_guesses(stranger) == []


def test_a_guess_is_kept_under_its_page_and_its_cell_whatever_stands_before_it(stranger, book):
    study(stranger, book)["here-guess"].fill("weak, twice")
    assert kept_guesses(stranger) == [f"scalelab-guess chapters/{GUESSED} here-guess"]


@pytest.mark.parametrize("slug", sampled(WRITTEN, 1))
def test_every_guess_of_a_chapter_has_the_name_of_its_cell_and_an_answer_before_the_next(
    stranger, book, slug
):
    stranger.open((book / "chapters" / f"{slug}.html").as_uri())
    cells = chapter(slug).nb.cells
    asking = [one.id for one in cells if "\n:class: guess\n" in one.source]
    fields = stranger.page.get_by_label("Your guess")
    assert fields.evaluate_all("all => all.map((one) => one.closest('.guess').id)") == asking
    for field, name in zip(fields.all(), asking, strict=True):
        field.fill(name)
    order = stranger.page.locator(".guess, .guess-said").evaluate_all(
        "all => all.map((one) => one.id || one.querySelector('q').textContent)"
    )
    assert order == [name for one in asking for name in (one, one)]


def test_a_guess_is_not_printed(stranger, book):
    field = study(stranger, book)["here-guess"]
    field.fill("weak")
    stranger.page.emulate_media(media="print")
    assert not field.is_visible()
    assert said(stranger).count() == 0
    stranger.page.emulate_media(media="screen")
    assert field.is_visible()


def test_a_browser_that_keeps_nothing_says_so_and_still_repeats_the_guess(visit, book):
    one = visit(plain=True)
    one.context.add_init_script(FULL)
    field = study(one, book)["here-guess"]
    field.fill("weak")
    assert "keeps nothing" in one.page.locator("#here-guess").inner_text()
    assert said(one).all_inner_texts() == ["You guessed: weak"]


def test_pages_that_are_no_notebooks_keep_a_guess_too_and_repeat_it_inside_the_fold(stranger, book):
    stranger.open((book / "book" / "how_to_read.html").as_uri())
    stranger.page.get_by_label("Your guess").fill("0.625")
    assert said(stranger).count() == 0
    stranger.page.locator(".admonition.answer").get_by_role("button").click()
    assert said(stranger).all_inner_texts() == ["You guessed: 0.625"]


READ = "03_study"


def scroll(one, *shares):
    """Go to these shares of the page, one after the other, and be seen there."""
    for share in shares:
        one.page.evaluate("share => scrollTo(0, share * document.body.scrollHeight)", share)
        one.page.evaluate(
            "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
        )


def progress(one):
    """What is kept of the chapter, what the list of pages says of it, and what its first line offers."""
    known = one.page.evaluate("JSON.parse(localStorage.getItem('scalelab-read') ?? '{}')")
    told = one.page.locator(".bd-sidebar-primary a[style*='--read']").evaluate_all(
        "all => Object.fromEntries(all.map((one) => [one.textContent.trim().slice(0, 3), one.title]))"
    )
    return (
        known.get(f"chapters/{READ}", 0),
        told["3.3"],
        one.page.locator(".book-time a:not(.book-mine)"),
    )


def test_a_chapter_is_read_as_far_as_one_came_and_goes_on_there(visit, book):
    """And what one only jumped to is not read: whoever looks up the last section has read nothing."""
    one = visit(plain=True, reduced_motion="reduce")
    file = (book / "chapters" / f"{READ}.html").as_uri()
    one.open(file)
    scroll(one, 1)
    share, told, offer = progress(one)
    assert (share, told, offer.count()) == (0, "", 0)
    assert (
        one.page.evaluate("document.querySelector('.book-far').getBoundingClientRect().width")
        == one.page.viewport_size["width"]
    )
    scroll(one, *(step / 100 for step in range(0, 51)))
    one.open((book / "chapters" / "01_speedup.html").as_uri())
    share, told, _ = progress(one)
    assert share == pytest.approx(0.52, abs=0.04)
    assert told == f"{100 * share:.0f}% read"
    one.open(file)
    *_, offer = progress(one)
    assert offer.inner_text().startswith("Go on with ")
    offer.click()
    assert one.page.evaluate("scrollY / document.body.scrollHeight") == pytest.approx(
        share, abs=0.1
    )
    scroll(one, *(step / 100 for step in range(45, 101)))
    one.open(file)
    share, told, offer = progress(one)
    assert (share, told, offer.count()) == (1, "100% read", 0)
