"""Topics: JSONL, Parquet, TSV, CSV, XLSX, TREC's SGML, XML, and datasets of ir_datasets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import pandas as pd

from collection.errors import FormatError
from collection.formats import delimited, fields, objects, source, topic_markup, workbook
from collection.formats.source import FilePath
from collection.frames import TOPICS
from collection.records import Topic

WANTED = "topics"
ID = topic_markup.ID
TITLE, DESCRIPTION, NARRATIVE = topic_markup.TITLE, topic_markup.DESCRIPTION, topic_markup.NARRATIVE
_BARE = {width: TOPICS.names[:width] for width in (2, 3, 4)}


def read_topics(path: FilePath) -> pd.DataFrame:
    r"""Read topics; the format is detected from the content.

    Parameters
    ----------
    path
        JSONL or Parquet; TSV, CSV or XLSX with a header; TSV without a header (id, title, and optionally description
        and narrative); ``ir_datasets:ID``; TREC's SGML (``<top> <num> Number: 301 <title> ...``), with or without end
        tags; or XML (``<topic number="1"> <query>...``). The id may be named query_id, qid, _id, id, number or topic;
        the title also query or text; the description also desc or question; the narrative also narr.

    Returns
    -------
    DataFrame
        :data:`collection.frames.TOPICS` as str, '' for missing texts, in the order of the file. In SGML and XML white
        space is collapsed, entities are decoded, and the words "Number:", "Description:", "Narrative:" are left out.

    Raises
    ------
    FormatError
        A missing or repeated id, invalid JSON or XML, text that is not UTF-8, another format, or no topics; with path
        and line.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("topics.tsv").write_text("301\tWing flow\n302\tHeat transfer\n")
    >>> read_topics("topics.tsv")["title"].tolist()
    ['Wing flow', 'Heat transfer']
    """
    seen = fields.UniqueIds(path, "topic")
    topics = []
    for number, topic in _parsed(path):
        seen.add(topic.query_id, number)
        topics.append(topic)
    if not topics:
        raise FormatError(path, None, WANTED, "no topics")
    return TOPICS.check(pd.DataFrame(topics, columns=list(TOPICS.names), dtype="str"))


def _parsed(path: FilePath) -> Iterable[tuple[int, Topic]]:
    """The topics, read in the form of the first line that is not blank, else of the file's ending."""
    if (records := objects.records(path, WANTED)) is not None:
        return ((at, _topic(path, at, record)) for at, record in records)
    if workbook.is_workbook(path):
        return _from_table(path, ",")
    number, line = fields.first_line(path, WANTED)
    begin, suffix = line.lstrip()[:1], source.suffix(path)
    fields.refuse_array(path, number, line)
    if begin == "<":
        return topic_markup.parse(path, WANTED)
    if suffix == ".csv" or (suffix != ".tsv" and "\t" not in line and fields.find_header(line.split(","), ID)):
        return _from_table(path, delimited.separator_of(path, WANTED))
    if "\t" in line:
        return _from_table(path, "\t")
    wanted = "topics as JSONL, TSV, CSV with a header, TREC SGML (<top>) or XML"
    raise FormatError(path, number, wanted, source.quote(line), "separate the id and the text with a tab")


def _from_table(path: FilePath, separator: str) -> Iterator[tuple[int, Topic]]:
    for number, record in delimited.named_records(path, WANTED, separator, ID, _BARE):
        yield number, _topic(path, number, record)


def _topic(path: FilePath, number: int, record: Mapping[str, object]) -> Topic:
    _, query_id = fields.find_id(path, number, record, ID)
    texts = (
        fields.get_text(path, number, record, fields.first_present(record, names))
        for names in (TITLE, DESCRIPTION, NARRATIVE)
    )
    return Topic(query_id, *texts)
