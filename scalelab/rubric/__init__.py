"""Four metrics from one pass: speedup, efficiency, quality and cost, and one verdict.

Read `rubric` first. `files` become `rows`; `gate` judges quality, `ranking` orders what passes,
`shortfall` asks what was lost; `report` holds it all, `verdict`, `remarks` and `words` say it. `assess`
checks a capstone's record and its `claim`, `agreement` prediction against measurement.
"""

from scalelab.face import face

__getattr__, __dir__ = face(
    __name__,
    "rubric files rows gate ranking shortfall report verdict remarks words assess claim agreement",
)
