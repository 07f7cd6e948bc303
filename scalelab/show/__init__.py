"""What a reader sees: charts, sliders, tables and source; the only folder that knows matplotlib and HTML.

Read `chart` first: a figure as plain data, made of `series`. `draw` draws it, `page` sets it into HTML
with a twin as a table, `sliders` makes it a figure to explore, `picture` a file; `words` describes it.
`columns` are tables, `listing` shows source code, `prose` is Markdown as HTML, `template` whatever is
written as HTML; `claims` say before a measurement what it should give. `plots` holds the charts of the
chapters and `drawings` what plays step by step, `scaling` the chart of a fit, `scorecard` and `report`
those of a rubric.
"""

from scalelab.face import face

__getattr__, __dir__ = face(
    __name__,
    "sliders listing columns claims prose template chart series draw page picture words "
    "plots drawings scaling scorecard report",
)
