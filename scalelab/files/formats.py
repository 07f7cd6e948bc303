"""Any file that holds samples, told by its ending and its content: one call for every reader."""

from pathlib import Path

from scalelab import records
from scalelab.files import files, spreadsheet
from scalelab.files.nccl import nccl_tests


def read(path: str | Path) -> records.Recording:
    """Return the Recording in a .json or .csv file, or in what nccl-tests wrote.

    For details that a foreign file does not state, call its own reader. Section 3.1.
    """
    kinds = [suffix for suffix in Path(path).suffixes if suffix != ".gz"]
    kind = kinds[-1] if kinds else ""
    if kind == ".csv":
        return spreadsheet.read(path)
    if kind == ".json":
        data = files.parsed(path)
        if not isinstance(data, dict) or "results" not in data:
            return _recording(path)
    return nccl_tests.read(path)


def _recording(path):
    record = files.record(path)
    if isinstance(record, records.Sample):
        return records.Recording(Path(path).stem, (record,))
    if not isinstance(record, records.Recording):
        remedy = "read other records with records.from_json"
        raise files.wrong(path, "", "hold samples", record, remedy)
    return record
