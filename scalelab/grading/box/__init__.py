"""Walls around students' code.

`bubblewrap` builds them from outside and `namespaces` from inside; `sandbox` starts a `fork_server`
behind them, which makes a `student_process` for every exercise; that runs a `cell` and answers over the
`wire`. `clean_output` takes what it showed.
"""
