"""Files that come from elsewhere, and files that are whole at any moment.

`files` reads text, `workbook` sheets, `atomic` writes; `formats` knows samples in every form:
`spreadsheet` and the files of other tools, `hyperfine`, `pyperf`, `extrap` and `nccl` tests. `cells` is
what a sample is in those with names for everything. `torch_benchmark` takes objects, `kineto` reads and
writes traces.
"""
