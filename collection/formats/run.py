"""Run files: one system's rankings in the TREC form; several files, and the names of their runs."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

from collection.core import phrases
from collection.core.errors import FormatError, InputError, as_paths
from collection.core.frames import RUN
from collection.core.phrases import join
from collection.core.ranking import rank_run, without_query_documents
from collection.core.records import Run
from collection.formats import kinds, run_records, source
from collection.formats.source import FilePath, Source, opened, opens_once, quote
from collection.formats.tables.lines import Layout, Tag, data_lines, first_line, parse_grade
from collection.formats.tables.strict import read_table

WANTED = "a run"
NAMES = "query_id Q0 doc_id rank score tag"


@opens_once
def read_run(path: FilePath, *, tags_may_differ: bool = False) -> Run:
    r"""Read a run file: ``query_id Q0 doc_id rank score tag``, separated by blanks or tabs; or in another tool's form.

    CSV, TSV and XLSX with a header, JSONL and Parquet have the columns ``qid`` (query_id), ``docno`` (doc_id) and
    ``score``; JSON is ``{query_id: {doc_id: score}}``, as ranx, pytrec_eval, BEIR and MTEB write it.

    Ranks are computed from the scores (:func:`.rank_run`); columns after the sixth, blank lines and
    lines that begin with # are ignored. :func:`.doubt_run` tells whether the rank column contradicts
    the scores.

    Parameters
    ----------
    path
        The file, optionally gzipped. The tag may be missing (five columns, the second ``Q0``).
    tags_may_differ
        Accept lines with different tags; the run is then named after the last one, as in trec_eval.

    Returns
    -------
    Run
        `name` is the tag; without a tag, the file's name without ``.gz`` and ``.run``/``.txt``/``.trec``. `frame` is
        :data:`.RUN`: ``query_id`` categorical (in no order), ``doc_id`` str, ``score`` float64 (may be
        infinite), ``rank`` and ``listed`` int32; topics in the order of the file.

    Raises
    ------
    FormatError
        A short line, a score that is not a number, a repeated document in a topic, a second tag, text that is not
        UTF-8, qrels instead of a run, or no rows; with path and line.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("bm25.run").write_text("301 Q0 d7 1 16.1 bm25\n301 Q0 d42 2 17.5 bm25\n")
    >>> name, frame = read_run("bm25.run")
    >>> print(frame)
      query_id doc_id  score  rank  listed
    0      301    d42   17.5     1       1
    1      301     d7   16.1     2       2
    """
    import pandas as pd

    if run_records.is_typed(path):
        kinds.refuse_other(path, WANTED)
        run, ranks = run_records.read(path)
        frame = run.frame if ranks is None else run.frame.assign(rank=ranks)
        return run._replace(frame=RUN.check(rank_run(frame)))
    layout = find_layout(path)
    try:
        rows = read_table(path, layout)
    except FormatError:
        if not tags_may_differ or layout.tag is None:
            raise
        rows = read_table(path, layout._replace(tag=None))
        ((_, _, last),) = deque(data_lines(path, WANTED), maxlen=1)
        layout = layout._replace(tag=layout.tag._replace(word=last[layout.tag.place]))
    frame = pd.DataFrame(
        {
            "query_id": pd.Categorical.from_codes(
                rows.topics, categories=pd.Index(rows.topic_names, dtype="str"), validate=False
            ),
            "doc_id": pd.array(rows.documents, dtype="str"),
            "score": rows.values,
            **({} if rows.ranks is None else {"rank": rows.ranks}),
        },
        copy=False,
    )
    del rows
    return Run(source.stem(path) if layout.tag is None else layout.tag.word, RUN.check(rank_run(frame)))


def find_layout(path: FilePath) -> Layout:
    """The layout that the first line of a TREC run implies."""
    if run_records.is_typed(path):
        raise FormatError(path, None, f"{WANTED} as lines ({NAMES})", "another form")
    kinds.refuse_other(path, WANTED)
    number, line, columns = first_line(path, WANTED)
    count = len(columns)
    if count > 6:
        more = f"ignored columns after the sixth, such as {quote(' '.join(columns[6:]))} in line {number}"
        source.warn(path, f"{more}; the run is named {quote(columns[5])}, so write a tag of several words as one")
    if count >= 6:
        return Layout(WANTED, NAMES, columns=6, seen=count, doc=2, value=4, tag=Tag(5, columns[5], number), rank=3)
    if count == 5 and columns[1].upper() == "Q0":
        names = NAMES.removesuffix(" tag")
        return Layout(WANTED, names, columns=5, seen=5, doc=2, value=4, marker=1, exact=True, rank=3)
    wanted, found, hint = f"6 columns ({NAMES})", f"{phrases.count(count, 'column')}: {quote(line.strip())}", ""
    of_beir = count == 3 and columns[0] in ("query-id", "query_id")
    if of_beir or (count == 4 and parse_grade(columns[3]) is not None):
        wanted, found = f"{WANTED} ({NAMES})", f"qrels: {quote(line.strip())}"
        hint = "pass it as qrels"
    elif count == 5 and parse_grade(columns[3]) is not None:
        hint = "lines without a tag need Q0 in the second column"
    elif count < 3 and any(sign in line for sign in ",;"):
        hint = "CSV needs a header: qid,docno,score"
    elif count == 3:
        hint = "the MS MARCO form (query_id, doc_id, rank) has no scores; write 1/rank as the score"
    raise FormatError(path, number, wanted, found, hint)


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
