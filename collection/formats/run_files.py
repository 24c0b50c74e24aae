"""Several run files, and the names of their runs."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

from collection.core.errors import InputError, as_paths
from collection.core.phrases import join
from collection.core.ranking import without_query_documents
from collection.core.records import Run
from collection.formats import run_records, source
from collection.formats.run import WANTED, read_run
from collection.formats.source import FilePath, Source, opened
from collection.formats.tables.lines import data_lines

LARGE = 32 << 20
"""Files with more bytes are not read while another run is in use."""

MOST_OPEN = 100
"""Files that stay open after a look at their beginnings; systems allow a process 256 or more."""

RUNS_AHEAD = 2
"""Small runs that are read while another is in use, since one block of a file keeps only one core busy."""


@contextmanager
def open_runs(
    paths: FilePath | Iterable[FilePath], names: Sequence[str] | None = None
) -> Iterator[list[tuple[str, Source]]]:
    """Open run files with the names of their runs: those given, or those of :func:`name_runs`.

    Whoever has read a file releases it.
    """
    with ExitStack() as stack:
        sources = [stack.enter_context(opened(path)) for path in as_paths(paths, "runs")]
        yield list(zip(names or _names(sources), sources, strict=True))


def name_runs(paths: FilePath | Iterable[FilePath]) -> list[str]:
    """The name of each run: its tag, or its file's name where two files carry the same tag."""
    with open_runs(paths) as runs:
        return [name for name, _ in runs]


def _names(paths: Sequence[Source]) -> list[str]:
    tags = []
    for path in paths:
        tags.append(_tag(path))
        if len(tags) > MOST_OPEN:
            path.release()
    names = [source.stem(path) if tags.count(tag) > 1 else tag for path, tag in zip(paths, tags, strict=True)]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        where = [str(path) for path, name in zip(paths, names, strict=True) if name == twice]
        if len({Path(path).resolve() for path in where}) < len(where):
            raise InputError(f"{where[0]}: expected each run file once, found it twice; its folder may be given too")
        raise InputError(f"{join(where)} would both be called {twice!r}; rename one of the files")
    return names


def read_runs(paths: FilePath | Iterable[FilePath], *, exclude_query_document: bool = False) -> Iterator[Run]:
    """Read runs one after the other, each under the name that :func:`name_runs` gives it.

    With `exclude_query_document`, documents whose id is that of their topic are left out.
    While one run is in use the next are read, unless they are large: only one large run is in memory at a time.
    """
    ahead: deque[Future[Run]] = deque()
    with open_runs(paths) as runs, ThreadPoolExecutor(RUNS_AHEAD) as pool:
        for number, (name, path) in enumerate(runs):
            run = ahead.popleft().result() if ahead else read_run(path)
            path.release()
            for _, following in runs[number + 1 + len(ahead) : number + 1 + RUNS_AHEAD]:
                if following.size(WANTED) > LARGE:
                    break
                ahead.append(pool.submit(read_run, following))
            run = run._replace(name=name)
            yield without_query_documents(run) if exclude_query_document else run


def _tag(path: FilePath) -> str:
    """The tag in the first line; the file's name where there is none."""
    if run_records.is_typed(path):
        return run_records.name(path)
    first = next(data_lines(path, WANTED), None)
    return first[2][5] if first is not None and len(first[2]) >= 6 else source.stem(path)
