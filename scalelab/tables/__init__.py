"""A scaling table: read as people keep it, and audited.

Read `table` first (CSV, a spreadsheet, Markdown or JSON to `nouns`), by way of `grid`, `columns` and
`cells`; what was taken for what is `understood`. `audit` says what is wrong: with the `entries`, as a
`study`, in the `shape` of the curve over `sizes`; each `finding` with its remedy. `text` writes it all
for people, and as plain data; `printed` puts rows of text into columns that fit.
"""

from scalelab.face import face

__getattr__, __dir__ = face(
    __name__,
    "table nouns grid columns cells understood audit finding entries study shape sizes text printed",
)
