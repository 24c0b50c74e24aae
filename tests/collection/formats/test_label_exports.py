"""Labels as ASReview, Label Studio and HiCAL export them.

The files in ``exports`` were written by the writers of ASReview 3.0.8 and by the converter of label-studio-sdk 2.1.2,
from made-up records.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from collection.campaign import Campaign
from collection.errors import FormatError, InputError
from collection.formats import read_label_log, read_labels, source
from tests.helpers import ROOT

EXPORTS = Path(__file__).parent / "exports"
NAMES = {"not relevant": 0, "relevant": 1}


@pytest.mark.parametrize("form", ["csv", "xlsx", "ris"])
def test_asreview(form: str) -> None:
    """One of four records is not screened. The ids are the same as those of the imported records."""
    labels = read_labels(EXPORTS / f"asreview.{form}", query_id="1")
    assert labels.values.tolist() == [
        ["ann@example.org", "1", "10.5555/hp.2019.1", 1, "2026-03-02 09:00:00"],
        ["ann@example.org", "1", "r7dae306872d4", 0, "2026-03-02 09:00:08"],
    ]


def test_asreview_notes(tmp_path: Path) -> None:
    for form, old, new in (("csv", "09:00:00,,Ann", "09:00:00,check,Ann"), ("ris", "N1  - asreview_user_name", "")):
        text = (EXPORTS / f"asreview.{form}").read_text()
        text = text.replace(old, new or f'N1  - asreview_note: "check"\n{old}', 1)
        (tmp_path / f"a.{form}").write_text(text)
        log = read_label_log(tmp_path / f"a.{form}", query_id="1").labels
        assert log["note"].tolist() == ["check", "=1+1"]


@pytest.mark.parametrize("form", ["csv", "xlsx", "ris"])
def test_asreview_into_a_campaign_with_one_topic(tmp_path: Path, form: str) -> None:
    """Two of the records are duplicates of the first, whose higher label counts."""
    export, topics = EXPORTS / f"asreview.{form}", tmp_path / "topics.tsv"
    topics.write_text("7\theat pumps\n")
    with Campaign.create(tmp_path / "campaign", grades="0-1") as campaign:
        report = campaign.importer.import_files(documents=[export], topics=topics, labels=export)
        assert [duplicate.reason for duplicate in report.duplicates] == ["title and year", "DOI"]
        assert campaign.progress.counts()["documents"] == 2
        assert campaign.agreement.labels().iloc[:, :4].values.tolist() == [
            ["ann@example.org", "7", "10.5555/hp.2019.1", 1]
        ]
        assert campaign.judgement_log.judgements()["judged_at"].tolist() == ["2026-03-02T09:00:00.000+00:00"]
        metadata = campaign.corpus.documents(["10.5555/hp.2019.1"])["10.5555/hp.2019.1"].metadata
        assert not any("asreview" in str(name) for name in metadata)


def test_labels_and_qrels_that_come_later_know_the_records_that_were_left_out(tmp_path: Path) -> None:
    """Neither of them creates a document for a record that an earlier import left out."""
    export, topics, qrels = EXPORTS / "asreview.ris", tmp_path / "topics.tsv", tmp_path / "qrels.txt"
    topics.write_text("7\theat pumps\n")
    with Campaign.create(tmp_path / "campaign", grades="0-1") as campaign:
        (left_out, _) = campaign.importer.import_files(documents=[export], topics=topics).duplicates
    qrels.write_text(f"7 0 {left_out.doc_id} 1\n")
    with Campaign(tmp_path / "campaign") as campaign:
        campaign.importer.import_files(labels=export, qrels=qrels)
        assert campaign.progress.counts()["documents"] == 2
        log = campaign.judgement_log.judgements()
        assert sorted(log[["annotator", "doc_id", "relevance"]].itertuples(index=False, name=None)) == [
            ("ann@example.org", "10.5555/hp.2019.1", 1), ("qrels:qrels", "10.5555/hp.2019.1", 1)
        ]  # fmt: skip
        (tmp_path / "own.jsonl").write_text(json.dumps({"doc_id": left_out.doc_id, "text": "Its own text."}) + "\n")
        campaign.importer.import_files(documents=[tmp_path / "own.jsonl"])
        campaign.importer.import_files(qrels=qrels)
        assert left_out.doc_id in campaign.judgement_log.judgements()["doc_id"].tolist()


def test_asreview_into_a_campaign_with_several_topics(tmp_path: Path) -> None:
    (tmp_path / "topics.tsv").write_text("7\theat pumps\n8\tcellars\n")
    with Campaign.create(tmp_path / "campaign", grades="0-1") as campaign:
        campaign.importer.import_files(topics=tmp_path / "topics.tsv")
        with pytest.raises(InputError, match=r"need a campaign with exactly one topic, found 2 topics$"):
            campaign.importer.import_files(labels=EXPORTS / "asreview.csv")


@pytest.mark.parametrize("name", ["label_studio.json", "label_studio_min.json", "label_studio.csv"])
def test_label_studio(name: str) -> None:
    labels = read_labels(EXPORTS / name, names=NAMES)
    assert labels.iloc[:, :4].values.tolist() == [
        ["ben@example.org", "2", "d10", 1],
        ["cleo@example.org", "2", "d10", 0],
        ["ben@example.org", "2", "d12", 0],
    ]


def test_names_of_grades_are_those_of_the_campaign(tmp_path: Path) -> None:
    (tmp_path / "topics.tsv").write_text("2\tsolar roofs\n")
    with Campaign.create(tmp_path / "campaign", grades="0-1") as campaign:
        campaign.importer.import_files(topics=tmp_path / "topics.tsv", labels=EXPORTS / "label_studio.json")
        assert campaign.agreement.labels()["relevance"].tolist() == [1, 0, 0]
    with Campaign.create(tmp_path / "other", grades="0-1") as campaign:
        (tmp_path / "l.json").write_text((EXPORTS / "label_studio.json").read_text().replace('"Relevant"', '"Great"'))
        with pytest.raises(
            FormatError,
            match=r"l\.json, line 2: expected a number .* its name \(0 = 'not .*', 1 = 'relevant'\), found 'Great'",
        ):
            campaign.importer.import_files(topics=tmp_path / "topics.tsv", labels=tmp_path / "l.json")


def test_two_choices_in_one_annotation(tmp_path: Path) -> None:
    tasks = json.loads((EXPORTS / "label_studio.json").read_text())
    tasks[0]["annotations"][0]["result"][0]["value"]["choices"] = ["Relevant", "Not relevant"]
    empty = json.loads((EXPORTS / "label_studio_min.json").read_text())
    empty[0]["relevance"], empty[1]["relevance"] = {"choices": []}, {"choices": ["Relevant"]}
    (tmp_path / "l.json").write_text(json.dumps(empty))
    assert read_labels(tmp_path / "l.json", names=NAMES)["relevance"].tolist() == [1, 0]
    least = json.loads((EXPORTS / "label_studio_min.json").read_text())
    least[0]["relevance"] = {"choices": ["Relevant", "Not relevant"]}
    for content in (tasks, least):
        (tmp_path / "l.json").write_text(json.dumps(content))
        with pytest.raises(FormatError, match="expected one choice as grade, found 'Relevant', 'Not relevant'$"):
            read_labels(tmp_path / "l.json", names=NAMES)


def test_a_pair_twice_by_one_person(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "examples" / "hical_judgments.csv").read_text()
    (tmp_path / "h.csv").write_text(text + text.splitlines()[1] + "\n")
    with pytest.raises(FormatError, match=r"again \(first in line 2\); keep only the last of them$"):
        read_labels(tmp_path / "h.csv")


def test_hical() -> None:
    labels = read_labels(ROOT / "docs" / "examples" / "hical_judgments.csv")
    assert labels.iloc[0].tolist() == ["ann", "1", "d01", 2]


BAD: dict[str, tuple[Any, int, str]] = {
    "no object": ("[\n1]", 2, "labels as a JSON array of objects, found '1'"),
    "cut off": (
        '[{"annotator": "a", "query_id": "1", "doc_id": "d", "relevance": 1},\n',
        1,
        "labels as a JSON array of objects, found its end",
    ),
    "no task": ([{"annotations": 1}], 1, "a task of Label Studio with data and annotations"),
    "no annotator": (
        [{"data": {"query_id": "1", "doc_id": "d1"}, "annotations": [{"relevance": 1}]}],
        1,
        "labels with the columns annotator or assessor, query_id",
    ),
    "nested deeply": ("[" + "[" * 100_000, 1, "labels as a JSON array of objects"),
    "half a surrogate pair": ('[{"annotator": "\\ud800"}]', 1, "text, found an invalid character"),
}


@pytest.mark.parametrize("case", BAD)
def test_refusals_name_path_and_line(tmp_path: Path, case: str) -> None:
    content, line, said = BAD[case]
    path = tmp_path / "export.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(FormatError) as caught:
        read_labels(path)
    assert str(caught.value).startswith(f"{path}, line {line}: expected ")
    assert said in str(caught.value)


@pytest.mark.parametrize("between", [",", ",\n"])
def test_an_array_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, between: str) -> None:
    """An array is read whole, in one line or several."""
    monkeypatch.setattr(source, "LONGEST_LINE", 1 << 20)
    (tmp_path / "export.json").write_text("[" + between.join(['{"data": {}, "annotations": []}'] * 40_000) + "]")
    with pytest.raises(FormatError, match=r"expected at most 1 MiB in a .*; export a part, or CSV$"):
        read_labels(tmp_path / "export.json")
