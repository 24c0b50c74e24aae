"""Run files: one system's rankings in the TREC form."""

from __future__ import annotations

from collections import deque

from collection.core import phrases
from collection.core.errors import FormatError
from collection.core.frames import RUN
from collection.core.ranking import rank_run
from collection.core.records import Run
from collection.formats import kinds, run_records, source
from collection.formats.source import FilePath, opens_once, quote
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
