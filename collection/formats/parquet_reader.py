"""A process of its own that reads a Parquet file from standard input and writes its rows to standard output, as Arrow.

Arrow may abort the process that reads a damaged file, and a small file can expand to more than the memory; only this
process ends then. It imports nothing of the project: it is started as a script.
"""

from __future__ import annotations

import resource
import sys
from contextlib import suppress
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 256
"""Number of rows in memory at once."""

VALUE = 64
"""Bytes of a value in Python, besides its content."""


def weigh(array: pa.Array) -> int:
    """The bytes that an array may take as values of Python."""
    if isinstance(array, pa.ExtensionArray):
        return weigh(array.storage)
    if isinstance(array, pa.DictionaryArray):
        return weigh(array.dictionary_decode())
    size = VALUE * len(array)
    if not pa.types.is_nested(array.type):
        return size + array.nbytes
    inside = array.flatten()  # of a struct its columns, of a list its values
    return size + sum(map(weigh, inside if isinstance(inside, list) else [inside]))


def write(content: BinaryIO, column: int, row: int, total: int) -> None:
    """Write the rows; ValueError if a column of a row group, a row, or the file expands to more than so many bytes."""
    file = pq.ParquetFile(content, page_checksum_verification=True)
    groups = [file.metadata.row_group(place) for place in range(file.num_row_groups)]
    sizes = [group.column(place).total_uncompressed_size for group in groups for place in range(group.num_columns)]
    if max(sizes, default=0) > column:
        raise ValueError(f"a column that expands to {max(sizes):,} bytes")
    written = 0
    with pa.ipc.new_stream(sys.stdout.buffer, file.schema_arrow) as stream:
        for batch in file.iter_batches(batch_size=ROWS):
            waiting = [batch]
            while waiting:
                part = waiting.pop()
                if sum(map(weigh, part.columns)) <= row:
                    stream.write_batch(part)
                elif part.num_rows > 1:
                    half = part.num_rows // 2
                    waiting += [part.slice(half), part.slice(0, half)]
                else:
                    raise ValueError(f"a row that expands to more than {row >> 20:,} MiB")
            written += batch.nbytes
            if written > total:
                raise ValueError(f"a file that expands to more than {total >> 20:,} MiB")


if __name__ == "__main__":
    *limits, memory = map(int, sys.argv[1:])
    with suppress(ValueError, OSError):  # a lower limit stays
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    try:
        write(sys.stdin.buffer, *limits)
    except MemoryError:
        sys.exit(f"it takes more than {memory >> 20:,} MiB of memory")
    except Exception as error:
        sys.exit(str(error) or type(error).__name__)
