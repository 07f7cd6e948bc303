"""What is folded on a page: code that only imports or draws, and nothing that a reader must see."""

import nbformat
import pytest
from bs4 import BeautifulSoup

from tests.book.test_extension import extension
from tests.notebooks import ROOT, WRITTEN
from tests.sampling import sampled

folding = extension("folding")


@pytest.mark.parametrize(
    ("source", "folded"),
    [
        ("import numpy as np\nfrom scalelab import show", True),
        ("from scalelab import show\n\nfigures = show.plots.tail", True),
        ("from scalelab import data\n\nK = run.workers", False),
        ("K = run.workers", False),
        ("show.Figure(figures.lines(K, T))", True),
        ('told = "8 GPUs"\nstamp = records.Stamp("published", note=told)\nshow.Figure(chart, stamp)', True),
        ("show.explore(figures.fixed, s=show.Slider(start=1))", True),
        ("show.drawings.Stepper(show.drawings.all_reduce(plan))", True),
        ("slope = np.polyfit(K, T, 1)\nshow.Figure(figures.lines(K, slope))", False),
        ("for K in (1, 2):\n    print(K)\nshow.Figure(chart)", False),
        ("show.table(columns)", False),
        ("import torch\nx = torch.ones(3)", False),
        ("S = T[0] / T", False),
    ],
)  # fmt: skip
def test_a_cell_that_only_imports_or_draws_is_folded(source, folded):
    assert folding.folded(source) is folded


@pytest.mark.parametrize("slug", sampled(WRITTEN, 2))
def test_the_page_folds_such_cells_and_no_other_and_keeps_their_code(slug):
    cells = nbformat.read(ROOT / "chapters" / f"{slug}.ipynb", as_version=4).cells
    wanted = [c.source for c in cells if c.cell_type == "code" and folding.folded(c.source)]
    page = BeautifulSoup((ROOT / f"_build/html/chapters/{slug}.html").read_text(), "html.parser")
    shown = [
        fold.find("pre").text.strip() for fold in page.select("div.cell details.hide.above-input")
    ]
    assert shown == [source.strip() for source in wanted]
    assert not any("hide-input" in cell.metadata.get("tags", []) for cell in cells)
