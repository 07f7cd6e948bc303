"""Files that come from elsewhere, and files that are whole at any moment.

`files` reads text, `workbook` sheets, `atomic` writes; `formats` knows records in every form:
`spreadsheet`, `extrap`, `kineto` traces and `nccl` tests.
"""
