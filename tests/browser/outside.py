"""The addresses outside that the built book links to: which they are, and what is wrong with their form.

`python -m tests.browser.outside` lists each with the pages that use it, for whoever wants to try them.
Nothing here asks anybody: a test that needs the network fails for reasons that are not the book's.
"""

from __future__ import annotations

import ipaddress
import re
import sys
from collections import defaultdict
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from bs4 import BeautifulSoup, SoupStrainer

from tests.notebooks import ROOT

BUILT = ROOT / "_build" / "html"
PLAIN = {"spartan.cis.temple.edu", "www.johngustafson.net"}  # authors' pages that speak no https
SHORT = {"bit.ly", "t.co", "goo.gl", "tinyurl.com", "ow.ly", "lnkd.in", "dx.doi.org"}
FOLLOWS = re.compile(r"utm_\w+|fbclid|gclid|msclkid|mc_[ce]id|ref|ref_src|si|igshid|trk")
DOI = re.compile(r"/10\.\d{4,9}/[^\s/]\S*")
ARXIV = re.compile(r"/abs/(\d{4}\.\d{4,5}|[a-z-]+(\.[A-Z]{2})?/\d{7})(v\d+)?")
PUBLISHERS = re.compile(r"/doi/(abs/|full/|pdf/|epdf/)?10\.")


def links(folder: Path = BUILT) -> dict[str, list[str]]:
    """Return every address outside that a page links to, and the pages that do."""
    found = defaultdict(set)
    for path in folder.rglob("*.html"):
        page = path.relative_to(folder)
        if page.parts[0] == "_static":
            continue
        only = SoupStrainer("a", href=True)
        for link in BeautifulSoup(path.read_bytes(), "html.parser", parse_only=only).find_all("a"):
            if re.match(r"[a-z]+:|//", link["href"], re.IGNORECASE):
                found[link["href"]].add(page.with_suffix("").as_posix())
    return {address: sorted(pages) for address, pages in sorted(found.items())}


def fault(address: str) -> str:
    """Return what is wrong with the form of an address, or nothing."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    if parts.scheme == "mailto":
        return (
            "" if re.fullmatch(r"[^@\s]+@[^@\s]+\.[a-z]+", parts.path) else "is no address of mail"
        )
    rules = {
        "is not https": parts.scheme != "https" and not (parts.scheme == "http" and host in PLAIN),
        "holds two addresses": address.count("://") != 1,
        "ends in punctuation": address[-1] in ".,;:'\"" or address.count("(") != address.count(")"),
        "holds a space": bool(re.search(r"\s|%20", address)),
        "names no public host": not _public(host) or parts.username is not None,
        "names a port": ":" in parts.netloc.rpartition("@")[2],
        "hides where it leads": host in SHORT,
        "says who sent the reader": any(
            FOLLOWS.fullmatch(name) for name, _ in parse_qsl(parts.query, keep_blank_values=True)
        ),
        "is no DOI": host == "doi.org" and not DOI.fullmatch(parts.path),
        "should be https://doi.org/10...": bool(PUBLISHERS.search(parts.path))
        and host != "doi.org",
        "is not an abstract of arXiv": host.endswith("arxiv.org")
        and not (host == "arxiv.org" and ARXIV.fullmatch(parts.path)),
    }
    return next((said for said, broken in rules.items() if broken), "")


def _public(host: str) -> bool:
    """Say whether a host has a name that anybody could look up."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        reserved = (".local", ".localhost", ".internal", ".test", ".invalid", ".example")
        examples = re.search(r"(^|\.)example\.(com|org|net)$", host)
        return "." in host and not host.endswith(reserved) and not examples
    return False


def place(address: str) -> str:
    """Return one spelling for all spellings of the same place."""
    parts = urlsplit(unquote(address))
    host = (parts.hostname or "").removeprefix("www.")
    path = re.sub(r"/(index\.html?)?$", "", parts.path)
    if host == "doi.org":
        path = path.lower()
    if host == "arxiv.org":
        path = re.sub(r"v\d+$", "", path)
    return f"{host}{path}?{parts.query}#{parts.fragment}"


def doubles(addresses) -> list[list[str]]:
    """Return the places that are linked to by more than one spelling."""
    spellings = defaultdict(list)
    for address in addresses:
        spellings[place(address)].append(address)
    return [same for same in spellings.values() if len(same) > 1]


if __name__ == "__main__":
    listed = links()
    for address, pages in listed.items():
        print(address, *pages)
    sys.stderr.write(f"{len(listed)} addresses\n")
