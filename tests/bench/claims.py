"""How often what the chapters claim holds on this machine: each chapter is run ten times."""

import os
from collections import defaultdict

import nbformat
from nbclient import NotebookClient
from tqdm import tqdm

from scalelab.show.claims import claimed
from tests.bench import Row
from tests.notebooks import ROOT, WRITTEN

TIMES = int(os.environ.get("SCALELAB_TIMES", "10"))
OFTEN = 0.9  # of the runs


def rows():
    """Yield each claim with the number of runs in which it held."""
    for slug in os.environ.get("SCALELAB_CHAPTERS", " ".join(WRITTEN)).split():
        source = (ROOT / "chapters" / f"{slug}.ipynb").read_text(encoding="utf-8")
        if "claim(" not in source:
            continue
        held = defaultdict(list)
        for _ in tqdm(range(TIMES), slug, leave=False):
            notebook = nbformat.reads(source, as_version=4)
            resources = {"metadata": {"path": ROOT / "chapters"}}
            NotebookClient(notebook, timeout=300, resources=resources).execute()
            for one in claimed(notebook):
                held[one["what"]].append((one["held"], one["here"]))
        for what, runs in held.items():
            misses = ", ".join(here for kept, here in runs if not kept)
            name = f"{slug}: {what}{f' (missed: {misses})' if misses else ''}"
            yield Row(name, sum(kept for kept, _ in runs), len(runs), 1.0, least=OFTEN, unit="")
