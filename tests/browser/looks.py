"""How a page looked when somebody last looked at it: small pictures, and how far from them is too far.

`make looks` takes anew those that no longer match. Look at them before they are committed.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageChops

from tests.notebooks import ROOT

KEPT = Path(__file__).parent / "looks"
SEEN = ROOT / "_build" / "looks"  # where a picture that differs is put
ANEW = "SCALELAB_RENEW_LOOKS"
SMALLER = 3  # times; fine differences of how letters are drawn vanish
GAP = 6
QUALITY = 85
# Points tell when something has moved; patches of 8 by 8 of them, when a surface has another colour.
SHADES = {1: 40, 8: 8}  # of 255 that each may be off
SHARE = 0.025  # of either that may be off by more
PAPER = "#808080"

# What may differ between two builds or two machines, and says nothing about looks: what chapters measure and
# print, the date, the fonts of the system, and where words are broken.
STILL = """
  .cell_output:not(:has(.sl-stamp)), .cell_output:has(.sl-measured) { display: none !important; }
  .footer-content__item, .prev-next-footer, footer { visibility: hidden !important; }
  html { --pst-font-family-monospace: Inter !important; }
  pre, code, kbd, samp, tt { font-family: Inter !important; }
  * { hyphens: manual !important; }
"""


@dataclass(frozen=True)
class Sheet:
    """Pictures of one thing in a row, small enough to commit, and where in it each is."""

    image: Image.Image
    places: dict[str, tuple[int, int, int, int]]

    @classmethod
    def of(cls, pictures: dict[str, bytes]) -> Sheet:
        small = {
            name: Image.open(io.BytesIO(png)).convert("RGB").reduce(SMALLER)
            for name, png in pictures.items()
        }
        width = sum(one.width + GAP for one in small.values()) - GAP
        row = Image.new("RGB", (width, max(one.height for one in small.values())), PAPER)
        places, x = {}, 0
        for name, one in small.items():
            places[name] = (x, 0, x + one.width, one.height)
            row.paste(one, places[name])
            x += one.width + GAP
        return cls(row, places)

    def off(self, then: Image.Image) -> dict[str, float]:
        """Return for each picture how much of it is not as it was, by points or by patches."""
        grown = (self.image.width, max(self.image.height, then.height))
        both = [Image.new("RGB", grown, PAPER) for _ in range(2)]
        for paper, image in zip(both, (self.image, then), strict=True):
            paper.paste(image)
        found = {}
        for name, (left, top, right, bottom) in self.places.items():
            end = bottom if then.size == self.image.size else grown[1]
            pair = [paper.crop((left, top, right, end)) for paper in both]
            found[name] = max(share_off(*pair, size, most) for size, most in SHADES.items())
        return found


def share_off(one: Image.Image, other: Image.Image, size: int, most: int) -> float:
    """Return the share of patches of `size` points whose colour differs by more than `most` shades."""
    whole = (
        0,
        0,
        one.width // size * size,
        one.height // size * size,
    )  # a strip at the edge says little
    small = (image.reduce(size, whole) for image in (one, other))
    red, green, blue = ImageChops.difference(*small).split()
    counts = ImageChops.lighter(ImageChops.lighter(red, green), blue).histogram()
    return sum(counts[most + 1 :]) / sum(counts)


def differs(name: str, sheet: Sheet, *, anew: bool) -> str:
    """Return a sentence when the sheet is not as it was, else nothing; `anew` keeps the new one instead."""
    kept = KEPT / f"{name}.webp"
    if kept.exists():
        shares = sheet.off(Image.open(kept).convert("RGB"))
        far = [f"{share:.1%} of {at}" for at, share in shares.items() if share > SHARE]
        if not far:
            return ""
        said = f"{', '.join(far)} not as it was (at most {SHARE:.1%} may change)"
    else:
        said = "has no picture to be compared with"
    folder = KEPT if anew else SEEN
    folder.mkdir(parents=True, exist_ok=True)
    sheet.image.save(folder / f"{name}.webp", quality=QUALITY, method=6)
    if anew:
        return ""
    return (
        f"{name}: {said}; compare {SEEN / kept.name} with {kept}, "
        "and if it is meant, take it anew by `make looks`"
    )
