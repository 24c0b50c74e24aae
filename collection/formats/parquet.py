"""Rows of a Parquet file as records, a few at a time."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

from collection.errors import FormatError
from collection.formats import fields, source
from collection.formats.source import FilePath

ROWS = 256
"""Number of rows in memory at once."""

LARGEST = 2 << 30
"""Bytes to which a column of a row group may expand."""

_READER = """
import sys, pyarrow as pa, pyarrow.parquet as pq
try:
    file = pq.ParquetFile(sys.argv[1], page_checksum_verification=True)
    groups = [file.metadata.row_group(place) for place in range(file.num_row_groups)]
    sizes = [group.column(place).total_uncompressed_size for group in groups for place in range(group.num_columns)]
    if max(sizes, default=0) > int(sys.argv[2]):
        raise ValueError(f"a column that expands to {max(sizes):,} bytes")
    with pa.ipc.new_stream(sys.stdout.buffer, file.schema_arrow) as stream:
        for batch in file.iter_batches(batch_size=int(sys.argv[3])):
            stream.write_batch(batch)
except Exception as error:
    sys.exit(str(error) or type(error).__name__)
"""
"""Arrow may abort the process that reads a damaged file, so another one reads it and hands on its batches."""


def records(path: FilePath, what: str) -> Iterator[tuple[int, dict[str, object]]]:
    """Row number and fields of every row, with the values that JSON has (:func:`.fields.as_json`)."""
    import pyarrow as pa

    source.open_bytes(path, what).close()  # for its errors
    # -P: not the current directory, which may have a pyarrow.py.
    command = [sys.executable, "-P", "-c", _READER, os.fspath(path), str(LARGEST), str(ROWS)]
    number, said = 0, ""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as reader:
        assert reader.stdout is not None
        assert reader.stderr is not None
        try:
            for batch in pa.ipc.open_stream(reader.stdout):
                for row in batch.to_pylist():
                    number += 1
                    yield number, {name: fields.as_json(path, number, value) for name, value in row.items()}
            problem = reader.stderr.read().decode("utf-8", "replace")
            if reader.wait():
                said = problem or "the reader stopped"
        # ValueError: text that is not UTF-8, or two columns of one name; the others are Arrow's own.
        except (pa.ArrowException, OSError, ValueError) as error:
            reader.kill()  # which may wait for its batches to be taken
            said = reader.stderr.read().decode("utf-8", "replace") or str(error) or type(error).__name__
        finally:
            reader.kill()
    if said:
        found = f"damaged data ({said.strip().splitlines()[0][:100]})"
        raise FormatError(path, number + 1 if number else None, f"{what} in Parquet", found)
    if not number:
        raise FormatError(path, None, what, "a file without rows")
