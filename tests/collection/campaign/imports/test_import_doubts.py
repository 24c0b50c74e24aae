"""Imports that are questioned, refused, or reported: other kinds of files, ids and times."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from collection import Campaign
from collection.core.errors import ConflictError, DoubtError, FormatError
from tests.helpers import fails, ok


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Campaign]:
    """Topics 1 and 2, documents d1 to d8."""
    (tmp_path / "t.tsv").write_text("1\theat pump\n2\twing flow\n")
    (tmp_path / "d.tsv").write_text("".join(f"d{number}\tText {number} of a wing.\n" for number in range(1, 9)))
    with Campaign.create(tmp_path / "campaign") as campaign:
        campaign.imports.import_files(documents=[tmp_path / "d.tsv"], topics=tmp_path / "t.tsv")
        yield campaign


def notices(campaign: Campaign, tmp_path: Path, content: str, what: str = "labels", name: str = "l.csv") -> str:
    (tmp_path / name).write_text(content)
    return "\n".join(campaign.imports.import_files(**{what: tmp_path / name}).notices)  # type: ignore[arg-type]


def test_documents_as_topics_are_questioned(small: Campaign, tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_text("d1\tHello this is text\nd2\tAnother one\n")
    with pytest.raises(DoubtError, match=r"looks like documents: all its ids are ids of documents; .*--documents"):
        small.imports.import_files(topics=tmp_path / "x.tsv")
    assert small.store.corpus.topics()["query_id"].tolist() == ["1", "2"]
    small.imports.import_files(topics=tmp_path / "x.tsv", accept_doubts=True)
    assert small.store.corpus.topics()["query_id"].tolist() == ["1", "2", "d1", "d2"]


@pytest.mark.parametrize(
    ("what", "content", "said"),
    [
        ("topics", "9\td3\n10\td4\n", "column 2 has ids of documents"),
        ("topics", "qid\tpos\tneg\n7\td1\td2\n", "the column pos has ids of documents"),
        ("qrels", "1 0 d1 2 1\n1 0 d2 1 -1\n", "column 5 has whole numbers, which may be the grades"),
        ("qrels", "0 1 d1 1\n0 1 d2 0\n", "column 2 has ids of topics, such as '1', column 1 none"),
    ],
)
def test_ids_of_the_campaign_raise_doubts(small: Campaign, tmp_path: Path, what: str, content: str, said: str) -> None:
    (tmp_path / "x.tsv").write_text(content)
    with pytest.raises(DoubtError, match=said):
        small.imports.import_files(**{what: tmp_path / "x.tsv"})  # type: ignore[arg-type]


def test_the_command_asks_or_refuses(small: Campaign, tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_text("d1\tHello this is text\nd2\tAnother one\n")
    (tmp_path / "q.tsv").write_text("7\t0\td1\t1\n")
    directory = str(small.directory)
    assert "use --yes to import it anyway" in fails("import", directory, "--topics", tmp_path / "x.tsv")
    ok("import", directory, "--topics", tmp_path / "x.tsv", "--yes")
    said = fails("import", directory, "--topics", tmp_path / "q.tsv", "--yes")
    assert "looks like qrels" in said
    assert "pass it as qrels (--qrels)" in said


@pytest.mark.parametrize("what", ["qrels", "machine_labels"])
def test_ids_in_other_columns_are_refused(small: Campaign, tmp_path: Path, what: str) -> None:
    (tmp_path / "q.txt").write_text("d1 0 1 2\nd2 0 1 1\n")
    with pytest.raises(FormatError, match=r"column 1 has ids of documents, such as 'd1', column 3 has none; write"):
        small.imports.import_files(**{what: tmp_path / "q.txt"})  # type: ignore[arg-type]


def test_invisible_characters_are_named(small: Campaign, tmp_path: Path) -> None:
    said = notices(small, tmp_path, "1 0 \u200bd1 1\n1 0 d2\u200b 0\n2\u200b 0 d3 0\n", "qrels", "q.txt")
    assert "2 document ids differ from the campaign only in invisible characters ('\\u200bd1', campaign 'd1')" in said
    assert "1 topic id differs from the campaign only in invisible characters" in said
    said = notices(small, tmp_path, "\ufeff3\tslab\n\u200b4\tflow\n", "topics", "t.tsv")
    assert "1 topic id has invisible characters, such as zero-width spaces ('\\u200b4')" in said
    labels = "annotator,query_id,doc_id,relevance\nann,1,d1,1\nann\u200b,1,d2,1\n"
    with pytest.raises(ConflictError, match="differ only in invisible characters"):
        notices(small, tmp_path, labels)


def test_times_of_the_future_are_questioned(small: Campaign, tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text(
        "annotator,query_id,doc_id,relevance,judged_at\nann,1,d1,1,2199-01-01\nann,1,d2,1,1712222222222\n"
    )
    with pytest.raises(DoubtError, match=r"1 label with a time in the future \(2199-01-01T00:00:00.000\+00:00\)"):
        small.imports.import_files(labels=tmp_path / "l.csv")
    report = small.imports.import_files(labels=tmp_path / "l.csv", accept_doubts=True)
    assert any("in the future" in notice for notice in report.notices)
    ok("export", str(small.directory), "--judgements", tmp_path / "log.csv")
    assert "2024-04-04T09:17:02.222+00:00" in (tmp_path / "log.csv").read_text()
