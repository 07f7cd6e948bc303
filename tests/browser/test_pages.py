"""Every page of the built book, opened from its file as a reader without a network opens it."""

from __future__ import annotations

import contextlib
import functools
import html
import itertools
import random
import re
from collections import Counter
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
import yaml
from axe_playwright_python.sync_playwright import Axe
from bs4 import BeautifulSoup

from tests.browser.conftest import nothing, visiting, walking
from tests.browser.figures import Live, made_anew
from tests.notebooks import ROOT, WRITTEN, explored
from tests.sampling import sampled, seed

TOC = yaml.safe_load((ROOT / "_toc.yml").read_text())
PAGES = [TOC["root"], *(page["file"] for part in TOC["parts"] for page in part["chapters"])]
CHAPTERS = {f"chapters/{slug}": slug for slug in WRITTEN}
VISITED = sampled(PAGES, 2, always=["book/notation"])
# Of axe's rules, those that see colours: they take most of its time.
COLOUR_RULES = ("color-contrast", "link-in-text-block")
RULES = {"target-size": {"enabled": True}}  # 2.2 asks for it
THEMES = ("light", "dark")
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 360, "height": 740}

# Axe measures each word of code and each number by itself. Three of those that look alike, on a ground that
# looks alike, stand for all of them; the others keep their room. It says nothing of a single letter, so none
# stands for others.
THREE_OF_A_LOOK = """(all) => {
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const { backgroundColor, backgroundImage, opacity } = getComputedStyle(e);
      if (backgroundColor !== "rgba(0, 0, 0, 0)" || backgroundImage !== "none" || opacity !== "1")
        return [e.tagName, backgroundColor, backgroundImage, opacity];
    }
  };
  const seen = new Map();
  for (const e of document.querySelectorAll("article *")) {
    if (e.closest("a, button, label, summary, svg") || e.childElementCount) continue;
    if (all) e.style.visibility = "";
    if (all || !e.textContent.trim() || !e.checkVisibility({ visibilityProperty: true })) continue;
    const { color, fontSize, fontWeight, opacity, textShadow } = getComputedStyle(e);
    const look = [color, fontSize, fontWeight, opacity, textShadow, ...ground(e)].join();
    const times = seen.get(look) ?? 0;
    e.style.visibility = times < 3 ? "" : "hidden";
    if (/[\\p{L}\\p{N}]{2}/u.test(e.textContent)) seen.set(look, times + 1);
  }
}"""

# The insides of drawings and formulas are half of a chapter to axe, which reads no colour there: our own
# measure does. They go, or come back.
INSIDES = """(away) => {
  if (away) window.insides = [...document.querySelectorAll("article :is(svg, mjx-container)")]
    .filter((e) => !e.parentElement.closest("svg, mjx-container")).map((e) => [e, [...e.childNodes]]);
  insides.forEach(([e, inside]) => e.replaceChildren(...(away ? [] : inside)));
}"""

# As it is written, but for what the theme's script says of boxes that scroll.
ARTICLE = """() => document.querySelector("article").innerHTML.replace(/ tabindex="-?\\d"/g, "")"""

HEADINGS = """() => [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")]
  .filter((h) => h.checkVisibility()).map((h) => [Number(h.tagName[1]), h.textContent])"""

UNNAMED_PICTURES = """() => [...document.querySelectorAll("img, svg")]
  .filter((e) => e.checkVisibility() && !e.closest("[aria-hidden=true], mjx-container"))
  .filter((e) => !e.closest("button[aria-label], a[aria-label], button:has(svg > title)"))
  .filter((e) => !e.parentElement.closest("svg[role=img][aria-label]")) // a part of one that has its words
  .filter((e) => !(e.alt || (e.getAttribute("role") === "img" && e.getAttribute("aria-label")) || "").trim())
  .map((e) => e.outerHTML.slice(0, 120))"""

RAW_TEXT = """(more) => {
  const copy = document.querySelector("article").cloneNode(true);
  const apart = "pre, code, script, style, mjx-container" + more;
  copy.querySelectorAll(apart).forEach((e) => e.remove());
  return copy.textContent;
}"""

# What reaches past the edge behind which nothing is seen: that of the screen, or of a box that cuts off
# what does not fit. A box that scrolls has no such edge.
STICKING_OUT = """() => {
  const edge = (e) => {
    for (let box = e.parentElement; box !== document.body; box = box.parentElement) {
      const { display, overflowX } = getComputedStyle(box);
      if (display === "inline" || overflowX === "visible") continue;
      return ["auto", "scroll"].includes(overflowX) ? Infinity : box.getBoundingClientRect().right;
    }
    return innerWidth;
  };
  const out = [...document.querySelectorAll("article *")]
    .filter((e) => e.checkVisibility() && !e.closest("svg *, mjx-assistive-mml"))
    .filter((e) => e.getBoundingClientRect().right > edge(e) + 1);
  const names = out.filter((e) => !out.includes(e.parentElement))
    .map((e) => `${e.tagName.toLowerCase()}.${e.getAttribute("class")}: ${e.textContent.slice(0, 60)}`);
  const wide = document.scrollingElement.scrollWidth;
  return wide > innerWidth ? [`the page is ${wide} px wide, the screen ${innerWidth} px`, ...names] : names;
}"""

# Words that a narrow column tears apart, and sentences that a cell prints on one line.
TORN = """() => {
  const still = document.head.appendChild(document.createElement("style"));
  still.textContent = "* { hyphens: manual !important; }";
  const torn = [...document.querySelectorAll(".runs td:first-child a, .prev-next-title")].flatMap((e) => {
    const text = document.createTreeWalker(e, NodeFilter.SHOW_TEXT).nextNode();
    return [...text.data.matchAll(/[^\\s-]+/g)].filter(({ 0: word, index }) => {
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + word.length);
      return new Set([...range.getClientRects()].map(({ top }) => top)).size > 1;
    }).map(([word]) => word);
  });
  still.remove();
  const long = [...document.querySelectorAll(".cell_output .stream pre, .cell_output .text_plain pre")]
    .filter((e) => !e.closest(".tag_wide-output") && e.scrollWidth > e.clientWidth + 1)
    .map((e) => e.textContent).filter((said) => said.split("\\n").some((line) => line.length > 80));
  return [...torn, ...long.map((said) => said.slice(0, 60))];
}"""

# Letters inside a picture that are smaller than a reader can read, or larger than the text around it.
ODD_LETTERS = """([least, most]) => [...document.querySelectorAll("main svg:not(mjx-container *) text")]
  .filter((e) => e.checkVisibility() && e.textContent.trim()).map((e) => {
    const { a, b, c, d } = e.getScreenCTM();
    return [parseFloat(getComputedStyle(e).fontSize) * Math.sqrt(Math.abs(a * d - b * c)), e.textContent];
  }).filter(([size]) => size && (size < least || size > most)) // none has what finds no room in its block
  .map(([size, said]) => `${size.toFixed(1)} px: ${said.slice(0, 40)}`)"""
LETTERS = [10, 17]  # px

# Of each box that may scroll, what it is, whether all of it is seen, and where it fades: before, on the way,
# at the end. Of a table, too, whether the names of its rows are in view, and shade what passes under them.
FADES = """async () => {
  const next = (done) => requestAnimationFrame(() => requestAnimationFrame(done));
  const may = ["pre", "mjx-container[display=true]", ".pst-scrollable-table-container", ".sl-scroll"];
  const way = (e) => e.scrollWidth - e.clientWidth;
  const boxes = [...document.querySelectorAll(`article :is(${may})`)]
    .filter((e) => e.checkVisibility() && !(way(e) > 0 && way(e) < 4)); // too short a way to stop on
  const seen = boxes.map((e) => [may.find((kind) => e.matches(kind)), way(e) <= 0]);
  const names = boxes.map((e) => e.querySelector("table:not(.stacked, .claims) :is(th, td)"));
  for (const share of [0, 0.5, 1]) {
    boxes.forEach((e) => { e.scrollLeft = share * way(e); });
    await new Promise(next);
    boxes.forEach((e, i) => {
      const mask = getComputedStyle(e).maskImage;
      const both = /calc|, rgb.*, rgb.*, rgb.*, rgb/.test(mask);
      seen[i].push(mask === "none" ? [] : both ? ["left", "right"] : [/to (left|right)/.exec(mask)[1]]);
      if (!names[i]) return;
      const there = Math.abs(names[i].getBoundingClientRect().left - e.getBoundingClientRect().left) < 1;
      if (there) seen[i].at(-1).push(`names, shade ${getComputedStyle(names[i], "::after").visibility}`);
    });
  }
  return seen;
}"""

# Of each table whose rows a phone breaks up, whether it is seen without scrolling aside.
ROWS = """() => [...document.querySelectorAll("article table:is(.stacked, .claims)")].map((e) =>
  [e.getBoundingClientRect().right <= innerWidth
    && e.parentElement.scrollWidth <= e.parentElement.clientWidth, e.textContent.trim().slice(0, 40)])"""

# How far a colour stands out from what lies behind an element, translucent layers included.
COLOURS = """
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a)];
  const behind = (e) => {
    if (!e) return [255, 255, 255];
    const [bar, inside] = (e.closest("[id*=-inside-]")?.id ?? "").split("-inside-");
    const path = inside && document.getElementById(bar)?.querySelector("path");
    if (path) return over(rgba(getComputedStyle(path).stroke), behind(path.closest("svg").parentElement));
    const own = rgba(getComputedStyle(e).backgroundColor);
    return own[3] === 1 ? own : over(own, behind(e.parentElement));
  };
  const linear = (v) => (v <= 10 ? v / 3295 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const ratio = (e, colour) => {
    const paper = behind(e), ink = over(rgba(colour), paper);
    const [dark, bright] = [light(ink), light(paper)].sort((a, b) => a - b);
    return (bright + 0.05) / (dark + 0.05);
  };
"""

# Text and curves too close to what lies behind them, the inside of figures included.
FAINT = (
    "() => {"
    + COLOURS
    + """
  const words = (e) => (e.textContent.trim() || e.closest("[id]").id).slice(0, 60);
  const texts = [...document.querySelectorAll(
      "article :is(p, li, td, th, dt, dd, figcaption, summary, pre, pre span, text)")]
    .filter((e) => e.checkVisibility() && e.textContent.trim() && !e.closest("mjx-container"))
    .map((e) => [e, e.tagName === "text" ? getComputedStyle(e).fill : getComputedStyle(e).color, 4.5]);
  const curves = [...document.querySelectorAll(".sl-figure svg [id*='-series-'] :is(path, use):not(defs *)")]
    .map((e) => [e, getComputedStyle(e)]).filter(([, style]) => style.opacity === "1")
    .map(([e, { stroke, fill }]) => [e, stroke === "none" ? fill : stroke, 3]);
  return [...texts, ...curves].map(([e, colour, least]) => [ratio(e, colour), least, e])
    .filter(([has, least]) => has < least)
    .map(([has, least, e]) => `${has.toFixed(2)} to 1, not ${least}: ${e.tagName.toLowerCase()} ${words(e)}`);
}"""
)

# What can be reached by a key and shows too little of a ring when it is; of controls that look alike, one.
# The link that skips to the content shows itself by coming.
UNSEEN_FOCUS = (
    "() => {"
    + COLOURS
    + """
  const seen = new Set();
  const able = "a[href]:not(.skip-link a), button, input, select, summary, [tabindex='0']";
  return [...document.querySelectorAll(able)].filter((e) => {
    const home = e.closest("article, nav, footer, [class*=sidebar], [class*=header]");
    const kind = [e.tagName, e.className, e.parentElement.tagName, home?.className].join();
    if (seen.has(kind) || e.disabled || e.tabIndex < 0 || !e.checkVisibility()) return false;
    seen.add(kind);
    e.focus({ preventScroll: true });
    const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(e);
    const ring = outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
    return document.activeElement === e && !(ring && ratio(e.parentElement, outlineColor) >= 3);
  }).map((e) => e.outerHTML.slice(0, 120));
}"""
)

# What moves by itself; what a reader scrolls is moved by the reader.
MOVING = """() => [...document.querySelectorAll(":not(svg *, mjx-container *)")].filter((e) =>
  [null, "::before", "::after"].map((part) => getComputedStyle(e, part)).some((style) =>
    /[1-9]/.test(style.transitionDuration)
    || (style.animationName !== "none" && !style.animationTimeline?.startsWith("scroll("))
    || style.scrollBehavior === "smooth"))
  .map((e) => e.outerHTML.slice(0, 120))"""

# Formulas of which a screen reader finds no MathML, or finds the drawing as well.
UNSPOKEN = """() => [...document.querySelectorAll("mjx-container")].filter((e) =>
  !e.querySelector("mjx-assistive-mml > math")?.textContent.trim()
  || e.closest("[aria-hidden=true]") || !e.querySelector(":scope > mjx-math[aria-hidden=true]"))
  .map((e) => e.outerHTML.slice(0, 120))"""

OPEN_FOLDS = """() => {
  document.querySelectorAll("details").forEach((fold) => { fold.open = true; });
  document.querySelectorAll(".toggle-button[aria-expanded=false]").forEach((button) => button.click());
}"""

EMPTY_FOLDS = """() => [...document.querySelectorAll("details, .admonition.toggle")].filter((fold) => {
  const name = fold.querySelector(":scope > summary, :scope > .admonition-title");
  const inside = [...fold.children].filter((e) => e !== name);
  return !name?.innerText.trim() || !inside.some((e) => e.checkVisibility() && e.innerText?.trim());
}).map((fold) => fold.outerHTML.slice(0, 120))"""

FIGURES = """() => [...document.querySelectorAll(".sl-figure")].map((figure) => ({
  title: figure.querySelector(".sl-title")?.textContent,
  stamps: figure.querySelectorAll("figcaption .sl-stamp").length,
  rows: figure.querySelectorAll(".sl-twin tbody tr").length,
  controls: figure.querySelectorAll(".sl-controls").length,
  alive: figure.classList.contains("sl-alive"),
}))"""

# What the theme lays over the book's own looks: shadows under boxes, cards that begin beside the text, a fold
# in other ink than its line.
OTHER_LOOKS = """() => {
  const left = (e) => e.getBoundingClientRect().left, style = (e) => getComputedStyle(e);
  const ink = (e) => `${style(e).color} ${style(e).fontWeight}`;
  const faults = {
    "a shadow": [".admonition", (e) => style(e).boxShadow !== "none"],
    "not in line": [".sd-row", (e) => left(e.querySelector(".sd-card")) > left(e.closest("section")) + 1],
    "other ink": ["details.hide > summary p", (e) => ink(e) !== ink(e.parentElement)],
  };
  const text = (fault) => (e) => `${fault}: ${e.outerHTML.slice(0, 80)}`;
  return Object.entries(faults).flatMap(([fault, [kind, is]]) =>
    [...document.querySelectorAll(`article ${kind}`)].filter(is).map(text(fault)));
}"""

LINKS = """() => [...document.querySelectorAll("a[href]")].map((link) => link.href)"""
IDS = """() => [...document.querySelectorAll("[id]")].map((e) => e.id)"""

# The sizes of formulas when MathJax measures anew among letters of a given font.
SIZES = """(font) => {
  document.querySelector("article").style.fontFamily = font;
  MathJax.startup.document.rerender(MathJax._.core.MathItem.STATE.METRICS);
  const formulas = [...document.querySelectorAll("article mjx-container")];
  const sizes = [...new Set(formulas.map((e) => getComputedStyle(e).fontSize))];
  document.querySelector("article").style.fontFamily = "";
  return sizes;
}"""

AT_A_DESK = (
    *(FIGURES, LINKS, IDS, HEADINGS, UNNAMED_PICTURES, MOVING, UNSPOKEN, EMPTY_FOLDS),
    OTHER_LOOKS,
)


def turn(page, theme: str) -> None:
    """Ask for light or dark as an operating system does, and be given it."""
    page.emulate_media(color_scheme=theme)
    page.wait_for_function("theme => document.documentElement.dataset.theme === theme", arg=theme)


def resize(page, screen: dict) -> None:
    page.set_viewport_size(screen)
    page.wait_for_function("width => innerWidth === width", arg=screen["width"])


def look(page) -> dict:
    """Take every measure in one round: to turn a page dark or make it narrow costs as much as to look."""
    found = {measure: page.evaluate(measure) for measure in AT_A_DESK}
    found[STICKING_OUT, "desk"] = page.evaluate(STICKING_OUT)
    found[ODD_LETTERS, "desk"] = page.evaluate(ODD_LETTERS, LETTERS)
    page.keyboard.press("Tab")  # from here on rings are shown
    for theme in THEMES:
        turn(page, theme)
        for measure in (FAINT, UNSEEN_FOCUS):
            found[measure, theme] = page.evaluate(measure)
    resize(page, PHONE)
    found[STICKING_OUT, "phone"] = page.evaluate(STICKING_OUT)
    found[ODD_LETTERS, "phone"] = page.evaluate(ODD_LETTERS, LETTERS)
    found[TORN] = page.evaluate(TORN)
    return found


@pytest.fixture(scope="module")
def walker(browser):
    """One reader who goes from page to page."""
    with walking(browser, reduced_motion="reduce") as visit:
        yield visit


@pytest.fixture(scope="module", params=VISITED)
def reader(request, walker, book):
    """The reader at a page, and what was seen there."""
    walker.page.goto("about:blank")
    walker.forget()
    walker.page.set_viewport_size(DESK)
    walker.page.emulate_media(color_scheme="light")
    walker.name, walker.file = request.param, book / f"{request.param}.html"
    walker.open(walker.file.as_uri())
    walker.page.evaluate(OPEN_FOLDS)
    walker.seen = look(walker.page)
    return walker


def only(number: int, pages: list) -> pytest.MarkDecorator:
    """Give a test all pages to read; but for so many of these, visited today anyway, all are thorough."""
    today = [one.values[0] for one in VISITED if not one.marks and one.values[0] in pages]
    kept = random.Random(seed()).sample(today, min(number, len(today)))
    marks = {page: () if page in kept else pytest.mark.thorough for page in PAGES}
    params = [pytest.param(page, marks=mark) for page, mark in marks.items()]
    return pytest.mark.parametrize("reader", params, indirect=True)


themes = pytest.mark.parametrize("theme", THEMES)


@functools.cache
def soup(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_bytes(), "html.parser")


@functools.cache
def anchors(path: Path) -> set[str]:
    """Return all that an address may lead to on a page; to parse a page would take a second."""
    page = re.sub(r"<(script|style)\b.*?</\1>", "", path.read_text(), flags=re.DOTALL)
    named = re.findall(r'<(?:[^<>]*\sid|a\s(?:[^<>]*\s)?name)="([^"]+)"', page)
    return set(map(html.unescape, named))


def test_a_page_opens_without_an_error(reader):
    nothing(reader.errors)


def test_a_page_asks_nothing_of_the_network(reader):
    nothing(reader.outside)


def test_a_page_prepares_no_connection_to_elsewhere(reader):
    """A preconnect tells a stranger who reads, without any request."""
    hints = soup(reader.file).select("link[rel~=preconnect], link[rel~=dns-prefetch]")
    nothing([hint["href"] for hint in hints])


def test_every_file_a_page_needs_is_there(reader):
    nothing(reader.missing)


def test_mathematics_is_typeset(reader):
    page = reader.page
    assert page.locator(".math").count() == len(soup(reader.file).select(".math"))
    nothing(page.locator(".math:not(:has(mjx-container))").all_inner_texts())
    nothing(page.locator("mjx-merror").all_inner_texts())
    nothing(re.findall(r".{0,30}(?:\\[()\[\]]|\\[a-z]+\{).{0,30}", page.evaluate(RAW_TEXT, "")))
    # In the tables and figures that a cell makes, a dollar is money.
    prose = page.evaluate(RAW_TEXT, ", .sl-table, .sl-figure")
    nothing(re.findall(r".{0,30}\$(?!\d).{0,30}", prose))


def test_mathematics_can_be_heard(reader):
    nothing(reader.seen[UNSPOKEN])


def test_mathematics_is_not_prose_between_two_prices(reader):
    """Two dollar signs in a paragraph make mathematics of all between them."""
    formulas = [tag.text for tag in soup(reader.file).select(".math")]
    bare = [
        re.sub(r"\\(text|textrm|mathrm|operatorname)\{[^}]*\}|\\[A-Za-z]+", "", one)
        for one in formulas
    ]
    nothing([one for one in bare if re.search(r"[A-Za-z]{3,}[ ,.]+[A-Za-z]{3,}", one)])


@pytest.mark.parametrize("reader", ["book/notation"], indirect=True)
def test_mathematics_has_one_size_whichever_font_comes_first(reader):
    """MathJax can scale formulas to the letters around them, whose own font may still be on its way."""
    assert reader.page.evaluate(SIZES, "serif") == reader.page.evaluate(SIZES, "monospace")


# Of each numbered formula, how far its number is from it and from what comes next.
NUMBERED = """() => [...document.querySelectorAll("div.math:has(.eqno)")].map((formula) => {
  const [math, number, next] = [formula.querySelector("mjx-container"), formula.querySelector(".eqno"),
    formula.nextElementSibling].map((e) => e.getBoundingClientRect());
  return [number.top - math.bottom, next.top - number.bottom];
})"""


def test_on_a_phone_the_number_of_a_formula_is_nearer_to_it_than_to_what_follows(visit, book):
    """It stood right above the next paragraph, and a line's height below its formula."""
    one = visit(viewport=PHONE, reduced_motion="reduce")
    one.open((book / "chapters/06_workdepth.html").as_uri())
    found = one.page.evaluate(NUMBERED)
    assert len(found) >= 5
    assert all(0 <= before < 0.8 * behind for before, behind in found), found


def is_dead(link: str) -> bool:
    """Say whether a link leads nowhere: no such file, no such anchor in it, or half an address."""
    address, anchor = urldefrag(link)
    parts = urlsplit(address)
    if parts.scheme == "mailto":
        return "@" not in parts.path
    if parts.scheme != "file":
        return parts.scheme not in ("http", "https") or "." not in parts.netloc
    path = Path(unquote(parts.path))
    if not path.exists():
        return True
    name, _, _ = unquote(anchor).partition("?")  # behind which a figure says how it is shown
    return bool(name) and path.suffix == ".html" and name not in anchors(path)


def test_links_lead_somewhere(reader):
    nothing(sorted({link for link in reader.seen[LINKS] if is_dead(link)}))


def test_ids_are_unique(reader):
    nothing([one for one, times in Counter(reader.seen[IDS]).items() if times > 1])


def test_headings_are_one_title_and_never_skip_a_depth(reader):
    headings = reader.seen[HEADINGS]
    depths = [depth for depth, _ in headings]
    assert depths.count(1) == 1, headings
    assert depths[0] == 1, headings
    jumps = [now for (last, _), now in itertools.pairwise(headings) if now[0] > last + 1]
    nothing(jumps)


def test_pictures_have_words(reader):
    nothing(reader.seen[UNNAMED_PICTURES])


def test_every_fold_says_what_it_holds_and_opens(reader):
    nothing(reader.seen[EMPTY_FOLDS])


def test_the_theme_lays_nothing_over_the_looks_of_the_book(reader):
    nothing(reader.seen[OTHER_LOOKS])


def test_nothing_moves_for_a_reader_who_wants_it_still(reader):
    nothing(reader.seen[MOVING])


@themes
def test_a_key_shows_where_it_is(reader, theme):
    nothing(reader.seen[UNSEEN_FOCUS, theme])


@pytest.mark.parametrize("screen", ["desk", "phone"])
def test_nothing_is_wider_than_the_screen(reader, screen):
    nothing(reader.seen[STICKING_OUT, screen])


def test_a_phone_tears_no_word_of_a_link_and_shows_a_printed_sentence_whole(reader):
    nothing(reader.seen[TORN])


def test_what_goes_on_beyond_an_edge_fades_there_and_nothing_else_does(visit, book):
    """But for the names of rows, which stay where they are and shade what passes under them."""
    one = visit(viewport=PHONE, reduced_motion="reduce")
    one.open((book / "chapters/08_network.html").as_uri())
    seen = one.page.evaluate(FADES)
    assert {fits for _, fits, *_ in seen} == {True, False}
    assert len({kind for kind, fits, *_ in seen if not fits}) == 4
    whole, over, under = [[], [], []], "names, shade hidden", "names, shade visible"
    for kind, fits, *fades in seen:
        if "table" in kind or "scroll" in kind:
            moving = [["left", over], ["left", under], [under]]
            assert fades == ([[over]] * 3 if fits else moving), kind
        else:
            assert fades == (whole if fits else [["left"], ["left", "right"], ["right"]]), kind


# Of each table that is wider than a phone, whether a line says so: before it is moved, and at its end.
SAID = """async () => {
  const next = (done) => requestAnimationFrame(() => requestAnimationFrame(done));
  const kinds = "article :is(.pst-scrollable-table-container, .sl-scroll)";
  const all = [...document.querySelectorAll(kinds)].filter((e) => e.checkVisibility());
  const said = () => all.map((e) => getComputedStyle(e, "::after").visibility === "visible");
  const wide = all.map((e) => e.scrollWidth > e.clientWidth), before = said();
  all.forEach((e) => { e.scrollLeft = e.scrollWidth; });
  await new Promise(next);
  return { wide, before, after: said() };
}"""


def test_a_phone_says_below_a_wide_table_that_more_is_to_the_right_until_it_is_seen(visit, book):
    one = visit(viewport=PHONE, reduced_motion="reduce", plain=True)
    one.open((book / "chapters/08_network.html").as_uri())
    found = one.page.evaluate(SAID)
    assert {*found["wide"]} == {True, False}
    assert found["before"] == found["wide"]
    assert not any(found["after"])


@pytest.mark.parametrize("name", ["05_laws", "09_cost"])
def test_a_phone_shows_a_formula_whole(visit, book, name):
    one = visit(viewport=PHONE | {"width": 390})
    one.open((book / f"chapters/{name}.html").as_uri())
    formulas = one.page.locator("mjx-container[display=true]:visible")
    assert formulas.count() > 3
    wide = "(all) => all.filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.textContent)"
    nothing(formulas.evaluate_all(wide))


@pytest.mark.parametrize("name", ["notation", "terminology", "status", "instructor", "proposal"])
def test_a_phone_shows_a_row_of_words_whole(visit, book, name):
    one = visit(viewport=PHONE)
    one.open((book / f"book/{name}.html").as_uri())
    found = one.page.evaluate(ROWS)
    assert found
    nothing([words for fits, words in found if not fits])


@pytest.mark.parametrize(
    ("name", "titles"),
    [
        ("01_speedup", ["Four epochs in turn", "Speedup over the job's own smaller size"]),
        ("02_hardware", ["An edge of this machine", "From eight H100 to eight H200"]),
    ],
)
def test_a_phone_shows_the_numbers_beside_long_names(visit, book, name, titles):
    one = visit(viewport=PHONE | {"width": 390})
    one.open((book / f"chapters/{name}.html").as_uri())
    for title in titles:
        table = one.page.locator(f'.sl-scroll[aria-label="{title}"]')
        assert table.evaluate("(e) => e.scrollWidth <= e.clientWidth"), title


def test_a_tab_names_the_page_and_the_book_once(reader):
    book = yaml.safe_load((ROOT / "_config.yml").read_text())["title"]
    title = soup(reader.file).title.text
    assert title.count(book) == 1
    assert (title == book) == (reader.name == TOC["root"])


@pytest.mark.parametrize("screen", ["desk", "phone"])
def test_the_letters_of_a_picture_have_the_size_of_text(reader, screen):
    nothing(reader.seen[ODD_LETTERS, screen])


@themes
def test_text_and_curves_stand_out_from_their_paper(reader, theme):
    nothing(reader.seen[FAINT, theme])


def serious(page, options: dict) -> list[str]:
    """Return what axe finds of weight."""
    # It would ask for style sheets, which no script may read from a file: a fault, but not the page's.
    options = {"resultTypes": ["violations"], "preload": False, **options}
    violations = Axe().run(page, options=options).response["violations"]
    return [
        f"{one['id']} ({one['impact']}), {len(one['nodes'])} times, as in {one['nodes'][0]['html'][:200]}"
        for one in violations
        if one["impact"] in ("serious", "critical")
    ]


def too_faint(page) -> list[str]:
    """Return the colours that axe finds too faint."""
    page.evaluate(THREE_OF_A_LOOK)
    page.evaluate(INSIDES, True)
    try:
        return serious(page, {"runOnly": {"type": "rule", "values": COLOUR_RULES}})
    finally:
        page.evaluate(INSIDES, False)
        page.evaluate(THREE_OF_A_LOOK, True)


@contextlib.contextmanager
def without_article(page):
    """Leave the page with its article empty: what stands around it is seen in a fraction of the time."""
    page.evaluate(
        "() => { window.kept = document.createRange(); kept.selectNodeContents("
        "document.querySelector('article')); window.kept = kept.extractContents(); }"
    )
    try:
        yield
    finally:
        page.evaluate("document.querySelector('article').append(kept)")


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.thorough)])
@only(1, PAGES)
def test_axe_finds_nothing_serious(reader, theme):
    resize(reader.page, DESK)
    written = reader.page.evaluate(ARTICLE)
    turn(reader.page, theme)
    # A theme changes colours, and nothing that is written: what of it was looked at in the light is the same.
    assert reader.page.evaluate(ARTICLE) == written
    off = {rule: {"enabled": False} for rule in COLOUR_RULES}
    with without_article(reader.page) if theme == "dark" else contextlib.nullcontext():
        nothing(serious(reader.page, {"rules": RULES | off}))


# Axe needs many seconds for the colours of a chapter, which our own measure has seen by now.
@themes
@only(1, [page for page in PAGES if page not in CHAPTERS])
def test_axe_finds_no_colour_too_faint(reader, theme):
    resize(reader.page, DESK)
    turn(reader.page, theme)
    nothing(too_faint(reader.page))


def test_one_faint_word_among_thousands_is_found(visit, book):
    """The last of its kind, so that one of those before it could have stood for it."""
    one = visit(viewport=DESK, plain=True)
    one.open((book / "book" / "timing.html").as_uri())
    last = one.page.locator("article pre span.n").last
    for place in (last, one.page.locator("article li").last):
        place.evaluate("(e) => e.style.color = '#d0d0d0'")
        (found,) = too_faint(one.page)
        assert found.startswith("color-contrast (serious)")
        place.evaluate("(e) => e.style.color = ''")


def test_a_letter_that_axe_passes_over_stands_for_no_word(visit, book):
    one = visit(viewport=DESK, plain=True)
    one.open((book / "book" / "timing.html").as_uri())
    faint = "".join(f'<span style="color: #d0d0d0">{text}</span> ' for text in "((((")
    faint += '<span style="color: #d0d0d0">word</span>'
    one.page.locator("article pre").first.evaluate("(e, html) => e.innerHTML = html", faint)
    (found,) = too_faint(one.page)
    assert ">word<" in found


def test_every_figure_has_a_stamp_and_its_numbers(reader):
    figures = reader.seen[FIGURES]
    nothing([one for one in figures if not (one["stamps"] and one["rows"])])


def test_a_page_moves_every_figure_that_has_controls(reader):
    figures = reader.seen[FIGURES]
    assert [one["alive"] for one in figures] == [one["controls"] == 1 for one in figures]


@pytest.mark.parametrize(
    "reader", [one for one in VISITED if one.values[0] in CHAPTERS], indirect=True
)
def test_a_chapters_figures_agree_with_python_from_start_to_end(reader):
    """And so does one view between, drawn today, that a link leads to."""
    cells, draw = explored(CHAPTERS[reader.name]), random.Random(seed())
    assert sum(one["controls"] for one in reader.seen[FIGURES]) == len(cells)
    for number in range(len(cells)):
        figure = Live.on(reader, number, made_anew(CHAPTERS[reader.name], number))
        assert figure.agrees(figure.first)["values"] == figure.start
        for slider in figure.sliders():
            slider.press("End")
        assert figure.agrees()["values"] == figure.end
        stops = [draw.randrange(count) for count in figure.replay.shape]
        figure.go(figure.view(stops))
        assert figure.agrees()["values"] == stops
    nothing(reader.faults)


def test_the_theme_button_turns_the_page_dark(visit, book):
    one = visit(color_scheme="light")
    one.open((book / f"{TOC['root']}.html").as_uri())
    button = one.page.locator("button.theme-switch-button:visible")
    seen = set()
    for _ in range(3):
        button.click()
        seen.add(one.page.evaluate("document.documentElement.dataset.mode"))
        if one.page.evaluate("document.documentElement.dataset.mode") == "dark":
            assert one.page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert seen == {"light", "dark", "auto"}


def test_a_visit_notices_what_a_page_must_not_do(browser, tmp_path):
    """The tests above would say nothing if this one failed."""
    file = tmp_path / "bad.html"
    file.write_text(
        '<link rel="stylesheet" href="nowhere.css"><img src="https://example.org/pixel.png">'
        "<script>new WebSocket('wss://example.org/'); console.error('broken'); missing();</script>"
    )
    with visiting(browser) as one:
        with one.page.expect_websocket():
            one.open(file.as_uri())
        assert sorted(one.outside) == ["https://example.org/", "https://example.org/pixel.png"]
        assert one.missing == [(tmp_path / "nowhere.css").as_uri()]
        assert any("broken" in text for text in one.errors)
        assert any("missing is not defined" in text for text in one.errors)


def test_the_measures_notice_a_page_that_fails_them(visit, tmp_path):
    file = tmp_path / "ugly.html"
    file.write_text(
        '<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"><article>'
        '<h2>No title</h2><h4>Too deep</h4><img src="data:,"><p style="color: #999">Faint</p>'
        '<p style="width: 500px">Wide</p><p>Raw $x$</p><a href="nowhere.html">x</a><a href="#no">y</a>'
        '<figure class="sl-figure"><svg role="img"><g id="a-series-0"><path stroke="#ddd"/></g></svg>'
        '</figure><div style="overflow: hidden; width: 9px"><b>Cut off</b></div></article>'
    )
    one = visit(viewport=PHONE)
    one.open(file.as_uri())
    assert one.page.evaluate(HEADINGS) == [[2, "No title"], [4, "Too deep"]]
    assert len(one.page.evaluate(UNNAMED_PICTURES)) == 2
    assert [text.split(": ")[1] for text in one.page.evaluate(FAINT)] == [
        "p Faint",
        "path a-series-0",
    ]
    nothing_there = {"title": None, "stamps": 0, "rows": 0, "controls": 0, "alive": False}
    assert one.page.evaluate(FIGURES) == [nothing_there]
    assert one.page.evaluate(STICKING_OUT)[1:] == ["p.null: Wide", "b.null: Cut off"]
    assert "$x$" in one.page.evaluate(RAW_TEXT)
    assert is_dead((tmp_path / "nowhere.html").as_uri())
    assert is_dead(file.as_uri() + "#no")
    assert not is_dead(file.as_uri() + "#a-series-0")


def test_the_measures_notice_a_page_that_leaves_some_readers_out(visit, tmp_path):
    file = tmp_path / "hasty.html"
    file.write_text(
        '<link rel="icon" href="data:,"><style>.a { transition: color 1s } .b::after { animation: x 1s }'
        ":focus-visible { outline: 3px solid #000 !important } .c { outline: none !important }"
        ".d { outline-color: #eee !important }</style>"
        '<article><a class="a" href="#">a</a><a class="b" href="#">b</a><a class="c" href="#">c</a>'
        '<a class="d" href="#">d</a><details open><summary>Nothing</summary></details>'
        "<details open><summary></summary>No name</details>"
        '<mjx-container class="m"><mjx-math>x</mjx-math></mjx-container></article>'
    )
    one = visit()
    one.page.goto(file.as_uri())
    one.page.keyboard.press("Tab")
    assert [text[:12] for text in one.page.evaluate(MOVING)] == ['<a class="a"', '<a class="b"']
    assert [text[:12] for text in one.page.evaluate(UNSEEN_FOCUS)] == [
        '<a class="c"',
        '<a class="d"',
    ]
    assert len(one.page.evaluate(EMPTY_FOLDS)) == 2
    assert len(one.page.evaluate(UNSPOKEN)) == 1
