"""Rows of a Parquet file as records, a few at a time."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from collection.core.errors import FormatError
from collection.formats import compression, fields, source
from collection.formats.source import FilePath

LARGEST = 2 << 30
"""Bytes to which a column of a row group may expand."""

MEMORY = 4 << 30
"""Bytes that the process which reads a file may use."""

ANY_RATIO = 256 << 20
"""Bytes that any file may expand to; a larger one may to :data:`.compression.LARGEST_RATIO` times its size, since
a value that is repeated takes no place in Parquet."""

_READER = Path(__file__).with_name("parquet_reader.py")


def records(path: FilePath, what: str) -> Iterator[tuple[int, dict[str, object]]]:
    """Row number and fields of every row, with the values that JSON has (:func:`.fields.as_json`)."""
    with source.opened(path) as file:
        yield from _records(file, what)


def _records(path: source.Source, what: str) -> Iterator[tuple[int, dict[str, object]]]:
    import pyarrow as pa

    source.open_bytes(path, what, is_text=False).close()  # for its errors
    total = max(ANY_RATIO, compression.LARGEST_RATIO * path.size(what))
    limits = (LARGEST, source.LONGEST_LINE, total, MEMORY)
    # -P: not the current directory, which may have a pyarrow.py.
    command = [sys.executable, "-P", str(_READER), *map(str, limits)]
    number, said = 0, ""
    pipe, content = subprocess.PIPE, path.descriptor(what)
    with subprocess.Popen(command, stdin=content, stdout=pipe, stderr=pipe) as reader:
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
