"""Walls around students' code.

`bubblewrap` builds them from outside, `namespaces` from inside, and `system_calls` refuses what would
lead out of them. `sandbox` starts a `fork_server` behind them, which makes a `student_process` for
every exercise; that runs a `cell` and answers over the `wire`. `clean_output` takes what it showed.
"""
