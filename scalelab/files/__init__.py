"""Files that come from elsewhere, and files that are whole at any moment.

`files` reads text, `atomic` writes; `formats` knows records in every form: `spreadsheet`, `extrap`,
`kineto` traces and `nccl` tests.
"""
