"""Any file that holds samples, told by its ending and its content: one call for every reader."""

import json
from pathlib import Path

from scalelab import records
from scalelab.files import extrap, files, hyperfine, pyperf, spreadsheet
from scalelab.files.nccl import nccl_tests


def read(path: str | Path) -> records.Recording:
    """Return the Recording in a .json or .csv file, or in what one of these tools wrote.

    hyperfine, pyperf, nccl-tests and Extra-P. For details that a foreign file does not state, call its
    own reader. Section 3.1.
    """
    kinds = [suffix for suffix in Path(path).suffixes if suffix != ".gz"]
    kind = kinds[-1] if kinds else ""
    content = files.text(path)
    if kind == ".csv":
        header = content.partition("\n")[0].strip().split(",")
        if hyperfine.medians(header):
            expected, remedy = (
                "hold every run",
                "give what --export-json wrote, or audit it as a table",
            )
            raise files.wrong(path, "", expected, "hyperfine medians", remedy)
        return spreadsheet.read(path)
    found = foreign(path, content)
    if found is not None:
        return found
    if kind == ".json":
        data = files.loaded(path, content)
        if not isinstance(data, dict) or "results" not in data:
            return _recording(path, content)
    return nccl_tests.read(path, content)


def foreign(path: str | Path, content: str) -> records.Recording | None:
    """Return what hyperfine, pyperf or Extra-P measured, or None if the text is of none of them."""
    if extrap.written(content):
        return extrap.read(path, content)
    if content.lstrip()[:1] != "{":
        return None
    try:
        data = json.loads(content, strict=False)
    except (ValueError, RecursionError):
        return None  # for the reader of what it claims to be, who says where
    for tool in (hyperfine, pyperf):
        if tool.written(data):
            return tool.read(path, content)
    return None


def _recording(path, content):
    record = files.record(path, content)
    if isinstance(record, records.Sample):
        return records.Recording(Path(path).stem, (record,))
    if not isinstance(record, records.Recording):
        remedy = "read other records with records.from_json"
        raise files.wrong(path, "", "hold samples", record, remedy)
    return record
