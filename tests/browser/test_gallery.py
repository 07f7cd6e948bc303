"""The page of public series, used: filtered, linked to, pointed at, read without a script, printed."""

import re

import pytest
from playwright.sync_api import expect

from scalelab.data import datasets
from tests.book.test_extension import extension
from tests.browser.conftest import nothing, visiting
from tests.browser.test_pages import DESK, PHONE, STICKING_OUT
from tests.notebooks import ROOT

pytestmark = pytest.mark.turns(3)

ALL = [datasets.load(name) for name in datasets.names()]
DRAWN = [one for one in ALL if one.scaling and (one.seconds or one.throughput)]
HEAVIEST = 400_000  # bytes of HTML
OBSCURED = """(focused) => {
  const box = focused.getBoundingClientRect();
  const seen = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
  return !focused.contains(seen);
}"""


@pytest.fixture(scope="module")
def reader(browser):
    with visiting(browser, plain=True, viewport=DESK, reduced_motion="reduce") as visit:
        yield visit


@pytest.fixture
def page(reader, book):
    """The page as nobody has touched it; no error may have been written when the test ends."""
    reader.forget()
    reader.page.goto("about:blank")
    reader.page.set_viewport_size(DESK)
    reader.open(address(book))
    yield reader.page
    nothing(reader.faults)


def address(book, fragment=""):
    return (book / "book" / "datasets.html").as_uri() + fragment


def shown(page):
    """Return the names of the cards in view, which are those of the count and of the lines not dimmed."""
    names = page.locator(".sl-cards > li:visible").evaluate_all("all => all.map((e) => e.id)")
    assert page.get_by_role("status").inner_text() == f"{len(names)} of {len(ALL)} shown"
    bright = page.locator(".sl-overlay polyline:not(.sl-dim)").count()
    assert bright == sum(one.name in names for one in DRAWN)
    return names


def of(*kinds, word=""):
    return [
        one.name
        for one in ALL
        if one.scaling in kinds and word in f"{one.name} {one.group} {one.note}".lower()
    ]


def field(page):
    return page.get_by_label("System, program or name")


def kind(page, word):
    return page.get_by_role("checkbox", name=word)


def test_kinds_and_words_choose_cards_and_lines_together(page, book):
    assert shown(page) == [one.name for one in ALL]
    kind(page, "weak").uncheck()
    kind(page, "not scaling").uncheck()
    assert shown(page) == of("strong", "load")
    field(page).fill("MySQL")
    assert shown(page) == of("strong", "load", word="mysql")
    assert len(shown(page)) > 5
    field(page).fill("8 a100")  # in any order
    assert shown(page)
    field(page).fill("no such machine")
    assert shown(page) == []
    page.get_by_role("button", name="Show all").click()
    assert shown(page) == [one.name for one in ALL]
    assert field(page).input_value() == ""
    expect(page).to_have_url(address(book))


def test_a_link_restores_what_was_chosen(page, visit, book):
    kind(page, "strong").uncheck()
    field(page).fill("resnet")
    expect(page).to_have_url(address(book, "#show=weak,load,none&find=resnet"))
    there = visit(plain=True)
    there.open(page.url)
    assert shown(there.page) == shown(page) == of("weak", "load", "", word="resnet")
    assert not kind(there.page, "strong").is_checked()
    assert field(there.page).input_value() == "resnet"
    there.page.reload()
    assert shown(there.page) == shown(page)


def test_what_is_typed_survives_the_address_whatever_it_is(page, visit):
    field(page).fill("a&b=c#d %25,+é")
    expect(page).to_have_url(re.compile("#find=a%26b"))
    there = visit(plain=True)
    there.open(page.url)
    assert field(there.page).input_value() == "a&b=c#d %25,+é"


def test_a_link_to_a_card_shows_it_even_where_it_was_filtered_out(page, book):
    field(page).fill("megatron")
    page.evaluate("location.hash = 'usl_raytracer'")
    expect(page.locator("#usl_raytracer")).to_be_in_viewport()
    assert shown(page) == [one.name for one in ALL]
    page.goto(address(book, "#mlperf1.0_nvidia_bert"))
    expect(page.locator("[id='mlperf1.0_nvidia_bert'] a")).to_be_in_viewport()


def test_the_filter_is_worked_by_keys_alone(page):
    kind(page, "strong").focus()
    page.keyboard.press("Space")
    for _ in range(4):
        page.keyboard.press("Tab")
    expect(field(page)).to_be_focused()
    page.keyboard.type("horovod")
    page.keyboard.press("Enter")
    assert shown(page) == of("weak", "load", "", word="horovod")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Show all")).to_be_focused()
    page.keyboard.press("Enter")
    assert len(shown(page)) == len(ALL)
    page.keyboard.press("Tab")
    expect(page.locator("#usl_raytracer a")).to_be_focused()
    expect(page.locator(".sl-named")).to_contain_text("usl_raytracer")


def test_the_picture_leaves_with_the_text_and_takes_no_room_from_the_cards(page):
    page.set_viewport_size({"width": 1440, "height": 1500})
    expect(page.locator(".sl-overlay")).to_be_in_viewport()
    page.locator(f"[id='{ALL[len(ALL) // 2].name}']").scroll_into_view_if_needed()
    expect(page.locator(".sl-over")).not_to_be_in_viewport()


def test_what_a_key_reaches_is_behind_nothing(page):
    page.locator("#sysbench_cpu a").focus()
    for press in ["Tab"] * 12 + ["Shift+Tab"] * 9:
        page.keyboard.press(press)
        focused = page.evaluate_handle("document.activeElement")
        assert not page.evaluate(OBSCURED, focused), focused


def test_a_pointer_on_a_line_names_its_series_and_a_click_leads_to_its_card(page, book):
    name = "mfc_frontier_weak_rdmaT"  # alone at nine doublings
    box = page.locator(".sl-overlay svg").bounding_box()
    page.mouse.move(
        box["x"] + box["width"] * 8.9 / 11, box["y"] + box["height"] * (1 - 0.974 / 1.2)
    )
    expect(page.locator(".sl-named")).to_contain_text(name)
    expect(page.locator(".sl-named")).to_contain_text(datasets.load(name).note)
    assert page.locator("polyline.sl-lit").count() == 1
    page.mouse.down()
    page.mouse.up()
    expect(page.locator(f"#{name}")).to_be_in_viewport()
    expect(page).to_have_url(address(book, f"#{name}"))
    page.mouse.move(2, 2)
    expect(page.locator(".sl-named")).to_be_hidden()


def test_a_pointer_on_a_card_lights_its_line_if_it_has_one(page):
    for name, lines in (("usl_raytracer", 1), ("rccl_allreduce_MI300X_4GiB", 0)):
        page.locator(f"#{name} .sl-system").hover()
        assert page.locator("polyline.sl-lit").count() == lines
        assert page.locator(".sl-named").is_visible() == bool(lines)


def test_a_line_that_is_filtered_out_does_not_answer(page):
    kind(page, "weak").uncheck()
    box = page.locator(".sl-overlay svg").bounding_box()
    page.mouse.move(
        box["x"] + box["width"] * 8.9 / 11, box["y"] + box["height"] * (1 - 0.974 / 1.2)
    )
    expect(page.locator(".sl-named")).to_be_hidden()


def test_a_finger_asks_a_line_first_and_goes_to_its_card_then(visit, book):
    one = visit(plain=True, viewport=PHONE, has_touch=True)
    one.open(address(book))
    picture = one.page.locator(".sl-overlay svg")
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    place = {"x": box["width"] * 8.9 / 11, "y": box["height"] * (1 - 0.974 / 1.2)}
    picture.tap(position=place)
    expect(one.page.locator(".sl-named")).to_contain_text("mfc_frontier_weak_rdmaT")
    assert one.page.evaluate("location.hash") == ""
    picture.tap(position=place)
    expect(one.page.locator("#mfc_frontier_weak_rdmaT")).to_be_in_viewport()


def test_the_name_of_a_line_stays_inside_the_picture(page):
    page.set_viewport_size(PHONE)
    for series in DRAWN[::9]:
        page.locator(f"[id='{series.name}'] a").focus()
        name = page.locator(".sl-named").bounding_box()
        picture = page.locator(".sl-overlay svg").bounding_box()
        assert name["x"] >= picture["x"] - 1, series.name
        assert name["x"] + name["width"] <= picture["x"] + picture["width"] + 1, series.name
        assert name["y"] >= picture["y"] - 1, series.name


def test_a_phone_has_one_column_and_a_desk_more(page):
    columns = "e => getComputedStyle(e).gridTemplateColumns.split(' ').length"
    assert page.locator(".sl-cards").evaluate(columns) in (2, 3)
    page.set_viewport_size(PHONE)
    assert page.locator(".sl-cards").evaluate(columns) == 1
    nothing(page.evaluate(STICKING_OUT))


def test_without_a_script_everything_is_shown(browser, book):
    with visiting(browser, java_script_enabled=False) as one:
        one.page.goto(address(book))
        assert one.page.locator(".sl-cards > li:visible").count() == len(ALL)
        assert one.page.locator(".sl-filter").is_hidden()
        titles = one.page.locator(".sl-overlay polyline title").all_text_contents()
        assert "usl_raytracer" in titles
        nothing(one.faults)


def test_on_paper_no_filter_is_left_and_every_card_is_whole(page, tmp_path):
    """The text of a card is on one sheet, from its name to its lesson."""
    pypdf = pytest.importorskip("pypdf")
    file = tmp_path / "series.pdf"
    page.emulate_media(media="print")
    try:
        assert page.locator(".sl-filter").is_hidden()
        page.pdf(path=file, format="A4", print_background=True)
    finally:
        page.emulate_media(media="screen")
    sheets = ["".join(one.extract_text().split()) for one in pypdf.PdfReader(file).pages]
    for series in ALL:
        words = ["".join(text.split()) for text in (series.note, series.teaches, *series.traps)]
        assert any(all(word in sheet for word in words) for sheet in sheets), series.name


def test_the_page_is_light_and_no_other_page_fetches_what_it_needs(book):
    assert (book / "book" / "datasets.html").stat().st_size < HEAVIEST
    files = extension("gallery").FILES
    for name in files:
        assert (ROOT / "book" / "_static" / name).exists()
        assert name in (book / "book" / "datasets.html").read_text()
        assert name not in (book / "book" / "index.html").read_text()
