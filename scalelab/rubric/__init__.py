"""Four metrics from one pass: speedup, efficiency, quality and cost, and one verdict.

Read `rubric` first. `files` become `rows`; `gate` judges quality, `spread` says how sure times and bills
are, `ranking` orders what passes, `shortfall` asks what was lost; `report` holds it all, `text`
and `caveats` say it. `assess` checks a capstone's record and its `claim`, `agreement` whether its
passes are of one study. The room may be called: `scalelab.rubric("study.csv", floor=0.7)` is
`rubric.verdict_on("study.csv", floor=0.7)`.
"""

from scalelab.face import called, face

__getattr__, __dir__ = face(
    __name__,
    "rubric files rows gate spread ranking shortfall report text caveats assess claim agreement",
)
called(__name__, "rubric.verdict_on")
