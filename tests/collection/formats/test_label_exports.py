"""Labels as ASReview, Label Studio and HiCAL export them.

The files in ``exports`` were written by the writers of ASReview 3.0.8 and by the converter of label-studio-sdk 2.1.2,
from made-up records.
"""

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from collection.campaign import Campaign
from collection.core.errors import FormatError, FormatWarning, InputError
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
    """One record is a duplicate of the first, whose higher label counts; one has its DOI and another title."""
    export, topics = EXPORTS / f"asreview.{form}", tmp_path / "topics.tsv"
    topics.write_text("7\theat pumps\n")
    with Campaign.create(tmp_path / "campaign", grades="0-1") as campaign:
        report = campaign.imports.import_files(documents=[export], topics=topics, labels=export)
        assert [duplicate.reason for duplicate in report.duplicates] == ["title and year", "DOI, other title"]
        assert campaign.store.judgements.counts()["documents"] == 3
        assert campaign.results.agreement.labels().iloc[:, :4].values.tolist() == [
            ["ann@example.org", "7", "10.5555/hp.2019.1", 1]
        ]
        assert campaign.store.judgements.table()["judged_at"].tolist() == ["2026-03-02T09:00:00.000+00:00"]
        metadata = campaign.store.corpus.documents(["10.5555/hp.2019.1"])["10.5555/hp.2019.1"].metadata
        assert not any("asreview" in str(name) for name in metadata)


def test_labels_and_qrels_that_come_later_know_the_records_that_were_left_out(tmp_path: Path) -> None:
    """Neither of them creates a document for a record that an earlier import left out."""
    export, topics, qrels = EXPORTS / "asreview.ris", tmp_path / "topics.tsv", tmp_path / "qrels.txt"
    topics.write_text("7\theat pumps\n")
    with Campaign.create(tmp_path / "campaign", grades="0-1") as campaign:
        (left_out, _) = campaign.imports.import_files(documents=[export], topics=topics).duplicates
    qrels.write_text(f"7 0 {left_out.doc_id} 1\n")
    with Campaign(tmp_path / "campaign") as campaign:
        campaign.imports.import_files(labels=export, qrels=qrels)
        assert campaign.store.judgements.counts()["documents"] == 3
        log = campaign.store.judgements.table()
        assert sorted(log[["annotator", "doc_id", "relevance"]].itertuples(index=False, name=None)) == [
            ("ann@example.org", "10.5555/hp.2019.1", 1), ("qrels:qrels", "10.5555/hp.2019.1", 1)
        ]  # fmt: skip
        (tmp_path / "own.jsonl").write_text(json.dumps({"doc_id": left_out.doc_id, "text": "Its own text."}) + "\n")
        campaign.imports.import_files(documents=[tmp_path / "own.jsonl"])
        campaign.imports.import_files(qrels=qrels)
        assert left_out.doc_id in campaign.store.judgements.table()["doc_id"].tolist()


def test_asreview_into_a_campaign_with_several_topics(tmp_path: Path) -> None:
    (tmp_path / "topics.tsv").write_text("7\theat pumps\n8\tcellars\n")
    with Campaign.create(tmp_path / "campaign", grades="0-1") as campaign:
        campaign.imports.import_files(topics=tmp_path / "topics.tsv")
        with pytest.raises(InputError, match=r"need a campaign with exactly one topic, found 2 topics$"):
            campaign.imports.import_files(labels=EXPORTS / "asreview.csv")


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
        campaign.imports.import_files(topics=tmp_path / "topics.tsv", labels=EXPORTS / "label_studio.json")
        assert campaign.results.agreement.labels()["relevance"].tolist() == [1, 0, 0]
    with Campaign.create(tmp_path / "other", grades="0-1") as campaign:
        (tmp_path / "l.json").write_text((EXPORTS / "label_studio.json").read_text().replace('"Relevant"', '"Great"'))
        with pytest.raises(
            FormatError,
            match=r"l\.json, line 2: expected a number .* its name \(0 = 'not .*', 1 = 'relevant'\), found 'Great'",
        ):
            campaign.imports.import_files(topics=tmp_path / "topics.tsv", labels=tmp_path / "l.json")


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
        skipped = (
            r"skipped 1 entry with several choices as grade \(entry 1: topic \w+, document \w+\); choose one in each"
        )
        with pytest.warns(FormatWarning, match=skipped):
            assert 0 in read_labels(tmp_path / "l.json", names=NAMES)["relevance"].tolist()


def test_a_pair_twice_by_one_person(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "examples" / "hical_judgments.csv").read_text()
    (tmp_path / "h.csv").write_text(text + text.splitlines()[1] + "\n")
    with pytest.warns(FormatWarning, match=r"h\.csv: 1 entry repeats another and counts once$"):
        assert len(read_labels(tmp_path / "h.csv")) == 3
    (tmp_path / "h.csv").write_text(text + text.splitlines()[1].replace("CAL,2", "CAL,0") + "\n")
    with pytest.raises(
        FormatError, match=r"again with another grade \(2 in line 2\); keep only the last of them, or add .* judged_at$"
    ):
        read_labels(tmp_path / "h.csv")


def test_hical() -> None:
    labels = read_labels(ROOT / "docs" / "examples" / "hical_judgments.csv")
    assert labels.iloc[0].tolist() == ["ann", "1", "d01", 2]


BAD: dict[str, tuple[Any, int, str]] = {
    "no object": ("[\n1]", 2, "labels as a JSON array of objects, found '1'"),
    "cut off": (
        '[{"annotator": "a", "query_id": "1", "doc_id": "d", "relevance": 1},\n',
        2,
        "labels as a JSON array of objects, found its end",
    ),
    "no task": ([{"annotations": 1}], 1, "a task of Label Studio with data and annotations"),
    "no annotator": (
        [
            {
                "data": {"query_id": "1", "doc_id": "d1"},
                "annotations": [{"result": [{"from_name": "relevance", "value": {"rating": 1}}]}],
            }
        ],
        1,
        "an annotator's name without surrounding blanks, found none; name who judged with --annotator",
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
    unit = "line" if case == "no object" else "entry"
    assert str(caught.value).startswith(f"{path}, {unit} {line}: expected ")
    assert said in str(caught.value)


@pytest.mark.parametrize("between", [",", ",\n"])
def test_an_array_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, between: str) -> None:
    """An array is read whole, in one line or several."""
    monkeypatch.setattr(source, "LONGEST_LINE", 1 << 20)
    (tmp_path / "export.json").write_text("[" + between.join(['{"data": {}, "annotations": []}'] * 40_000) + "]")
    with pytest.raises(FormatError, match=r"expected at most 1 MiB in a .*; export a part, or CSV$"):
        read_labels(tmp_path / "export.json")


# Entries that say nothing, or say it twice -----------------------------------------------------------

PAIR = {"query_id": "1", "doc_id": "d1"}


def task(*annotations: object, **data: str) -> dict[str, object]:
    return {"id": 1, "data": {**PAIR, **data}, "annotations": list(annotations)}


def annotation(choice: str = "", by: object = 3, at: str = "2026-03-02T09:00:00Z", **more: object) -> dict[str, object]:
    result = [{"from_name": "relevance", "type": "choices", "value": {"choices": [choice]}}] if choice else []
    return {"result": result, "completed_by": by, "created_at": at, "was_cancelled": False, **more}


def read(path: Path, content: object, **options: Any) -> tuple[list[tuple[object, ...]], list[str]]:
    """Annotator, pair and grade of each label, and the warnings."""
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = read_labels(path, **options)
    said = [str(each.message).removeprefix(f"{path}: ") for each in caught]
    return list(found.iloc[:, :4].itertuples(index=False, name=None)), said


def test_entries_without_a_grade_are_counted(tmp_path: Path) -> None:
    tasks = [
        task(annotation("2", was_cancelled=True)),
        task(annotation()),
        task(annotation("1"), doc_id="d3"),
        task(),
    ]
    said = "skipped 3 entries without a grade (empty, skipped or cancelled)"
    assert read(tmp_path / "l.json", tasks) == ([("3", "1", "d3", 1)], [said])
    header = "annotator,query_id,doc_id,relevance\n"
    rows = "ann,1,d1,-\nann,1,d2,skip\nann,1,d3,\nann,1,d4,N/A\nann,1,d5,1\n"
    said = "skipped 4 entries without a grade (empty, skipped or cancelled)"
    assert read(tmp_path / "l.csv", header + rows) == ([("ann", "1", "d5", 1)], [said])
    assert read(tmp_path / "l.csv", header + "ann,1,d1,skip\n", names={"skip": 0})[0] == [("ann", "1", "d1", 0)]
    with pytest.raises(
        FormatError, match=r"line 2: expected a number as grade, found 'good'; write a grade of the scale"
    ):
        read(tmp_path / "l.csv", header + "ann,1,d1,good\n")


def test_a_file_without_entries_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"l\.json: expected labels, found no entries$"):
        read(tmp_path / "l.json", [])


def test_negative_labels_are_unjudged_in_a_campaign(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("1\twings\n")
    (tmp_path / "l.csv").write_text("annotator,query_id,doc_id,relevance\nann,1,d1,-1\nann,1,d2,skip\nann,1,d3,1\n")
    with Campaign.create(tmp_path / "campaign", grades="0-1") as campaign:
        report = campaign.imports.import_files(topics=tmp_path / "t.tsv", labels=tmp_path / "l.csv")
        assert campaign.results.agreement.labels()["doc_id"].tolist() == ["d3"]
    assert report.notices == [
        f"{tmp_path / 'l.csv'}: skipped 1 entry without a grade (empty, skipped or cancelled)",
        f"{tmp_path / 'l.csv'}: skipped 1 label with a negative grade (unjudged)",
    ]


def test_the_latest_of_the_grades_of_one_person_counts(tmp_path: Path) -> None:
    early, late = annotation("0"), annotation("3", at="2026-03-02T09:00:09Z")
    said = "1 grade was revised: of an annotator's grades for a pair, the latest counts"
    for tasks in ([task(early, late)], [task(late, early)], [task(early), task(late)]):
        assert read(tmp_path / "l.json", tasks) == ([("3", "1", "d1", 3)], [said])
    same = [task(early, annotation("0", at="2026-03-02T09:00:09Z"))]
    assert read(tmp_path / "l.json", same) == ([("3", "1", "d1", 0)], ["1 entry repeats another and counts once"])
    untimed = [task(annotation("0", at=""), annotation("3", at=""))]
    with pytest.raises(FormatError, match=r"entry 1: .* again with another grade \(0 in entry 1\)"):
        read(tmp_path / "l.json", untimed)


def test_the_annotator_of_a_file_without_one(tmp_path: Path) -> None:
    tasks = [task(annotation("2", by=7)), task(annotation("1", by=None), doc_id="d2")]
    with pytest.raises(FormatError, match=r"l\.json, entry 2: .* found none; name who judged with --annotator$"):
        read(tmp_path / "l.json", tasks)
    found = [("7", "1", "d1", 2), ("ben", "1", "d2", 1)]
    assert read(tmp_path / "l.json", tasks, annotator="ben") == (found, [])
    assert read(tmp_path / "l.csv", "qid,docno,grade\n1,d2,1\n", annotator="ben")[0] == [("ben", "1", "d2", 1)]
    with pytest.raises(FormatError, match=r"l\.csv, line 2: .* found none; name who judged with --annotator$"):
        read(tmp_path / "l.csv", "qid,docno,grade\n1,d2,1\n")


META = {"metadata": PAIR}
TOOLS: dict[str, tuple[str, object, list[tuple[object, ...]]]] = {
    "doccano": ("jsonl", {"id": 1, "text": "x", "label": ["Relevant"], **PAIR, "Comments": []}, [("me", "1", "d1", 1)]),
    "doccano, metadata": ("jsonl", {"id": 1, "text": "x", "label": ["1"], "meta": PAIR}, [("me", "1", "d1", 1)]),
    "doccano, nothing": ("jsonl", {"id": 1, "text": "x", "label": [], **PAIR}, []),
    "Prodigy, choice": (
        "jsonl",
        {**PAIR, "accept": ["2"], "options": [{"id": "2", "text": "good"}], "answer": "accept",
            "_session_id": "db-ann"},
        [("db-ann", "1", "d1", 2)],
    ),
    "Prodigy, named options": (
        "jsonl",
        {**PAIR, "accept": ["R"], "options": [{"id": "R", "text": "Relevant"}], "answer": "accept",
            "_annotator_id": "ann"},
        [("ann", "1", "d1", 1)],
    ),
    "Prodigy, ignored": ("jsonl", {**PAIR, "accept": ["2"], "answer": "ignore", "_session_id": "db-ann"}, []),
    "Prodigy, binary": ("jsonl", {"meta": PAIR, "label": "REL", "answer": "reject"}, [("me", "1", "d1", 0)]),
    "Argilla 2": (
        "json",
        [{"id": "a", "fields": {"text": "x"}, **META, "responses": {"relevance": [{"value": "2", "user_id": "u1"}]}}],
        [("u1", "1", "d1", 2)],
    ),
    "Argilla's server": (
        "json",
        [
            {
                **META,
                "responses": [
                    {"user_id": "u1", "status": "submitted", "values": {"relevance": {"value": 1}}},
                    {"user_id": "u2", "status": "discarded", "values": {"relevance": {"value": 0}}},
                ],
            }
        ],
        [("u1", "1", "d1", 1)],
    ),
    "Argilla, flat": (
        "jsonl",
        {
            **PAIR,
            "relevance.responses": ["1", "0"],
            "relevance.responses.users": ["u1", "u2"],
            "relevance.responses.status": ["submitted", "submitted"],
        },
        [("u1", "1", "d1", 1), ("u2", "1", "d1", 0)],
    ),
    "Argilla 1": ("jsonl", {**META, "annotation": "Relevant", "annotation_agent": "ann"}, [("ann", "1", "d1", 1)]),
    "Potato": (
        "jsonl",
        {"user_id": "ann", "id": "1|d1", "displayed_text": "x", "label_annotations": {"relevance": {"2": "2"}}},
        [("ann", "1", "d1", 2)],
    ),
    "Potato, CSV": (
        "csv",
        "user,instance_id,displayed_text,grade:::0,grade:::1\nann,1|d1,x,,1\nbob,1|d1,x,0,\n",
        [("ann", "1", "d1", 1), ("bob", "1", "d1", 0)],
    ),
    "Quepid": ("csv", "query,docid,rating\n1,d1,3\n1,d2,\n", [("me", "1", "d1", 3)]),
    "Quepid, a book": ("csv", "query,docid,Ann,Bob\n1,d1,3,2\n1,d2,,0\n", [
        ("ann", "1", "d1", 3), ("bob", "1", "d1", 2), ("bob", "1", "d2", 0),
    ]),
    "Label Studio, another tag": (
        "json",
        [task({"result": [{"from_name": "sentiment", "value": {"choices": ["1"]}}], "completed_by": 3})],
        [("3", "1", "d1", 1)],
    ),
    "Label Studio, TSV": (
        "tsv",
        "query_id\tdoc_id\trelevance\tannotator\tcreated_at\n1\td1\t2\t3\t2026-03-02T09:00:01.000000Z\n",
        [("3", "1", "d1", 2)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("tool", TOOLS)
def test_exports_of_tools(tmp_path: Path, tool: str) -> None:
    ending, content, wanted = TOOLS[tool]
    if ending == "jsonl":
        content = json.dumps(content) + "\n"
    assert read(tmp_path / f"l.{ending}", content, annotator="me", names=NAMES)[0] == wanted


def test_rayyan(tmp_path: Path) -> None:
    inclusion = 'RAYYAN-INCLUSION: {""Ann""=>""Included"", ""Bob""=>""Excluded"", ""Cy""=>""Maybe""} | RAYYAN-LABELS: x'
    content = f'key,title,year,abstract,notes\nrayyan-1,Heat pumps,2019,A field study.,"{inclusion}"\n'
    found, said = read(tmp_path / "l.csv", content, query_id="1")
    assert [(annotator, grade) for annotator, _, _, grade in found] == [("Ann", 1), ("Bob", 0)]
    assert said == ["skipped 1 entry without a grade (empty, skipped or cancelled)"]


def test_topics_by_their_titles(tmp_path: Path) -> None:
    (tmp_path / "topics.tsv").write_text("7\tHeat  Pumps\n8\tcellars\n")
    (tmp_path / "q.csv").write_text("query,docid,rating\nheat pumps,d1,1\n8,d2,0\n")
    with Campaign.create(tmp_path / "campaign", grades="0-1") as campaign:
        campaign.imports.import_files(topics=tmp_path / "topics.tsv", labels=tmp_path / "q.csv", annotator="ann")
        labels = campaign.results.agreement.labels()
    assert labels[["query_id", "doc_id"]].values.tolist() == [["7", "d1"], ["8", "d2"]]


TIMES = {
    "2026-03-02T09:00:01Z": "2026-03-02T09:00:01.000+00:00",
    "2026-03-02T10:00:01+01:00": "2026-03-02T09:00:01.000+00:00",
    "2026-03-02 09:00:01": "2026-03-02T09:00:01.000+00:00",
    "2026-03-02 09:00:01 UTC": "2026-03-02T09:00:01.000+00:00",
    "2026-03-02": "2026-03-02T00:00:00.000+00:00",
    "1772442001": "2026-03-02T09:00:01.000+00:00",
    "1772442001.5": "2026-03-02T09:00:01.500+00:00",
    "1772442001500": "2026-03-02T09:00:01.500+00:00",
}


def test_times_of_labels(tmp_path: Path) -> None:
    for number, (time, wanted) in enumerate(TIMES.items()):
        (tmp_path / f"{number}.csv").write_text(f"annotator,qid,docno,grade,judged_at\nann,1,d1,1,{time}\n")
        assert read_label_log(tmp_path / f"{number}.csv").labels["judged_at"].tolist() == [wanted]
    for time in ("2026-02-30", "2026-13-01", "yesterday", "2026-03-02T25:00:00Z", "02.03.2026", "17", "1e400"):
        (tmp_path / "a.csv").write_text(f"annotator,qid,docno,grade,judged_at\nann,1,d1,1,{time}\n")
        with pytest.raises(FormatError, match=r"line 2: expected a time as judged_at \(ISO 8601, such as .*\), found"):
            read_labels(tmp_path / "a.csv")


# Crowds, forms and other tools --------------------------------------------------------------------

CROWDS = {
    "mturk": (
        "HITId,WorkerId,AssignmentStatus,Input.query_id,Input.doc_id,Answer.relevance\n"
        "h,A1,Approved,1,d1,2\nh,A2,Rejected,1,d1,0\n",
        [("A1", "1", "d1", 2)],
    ),
    "mturk choices": (
        "WorkerId,Input.query_id,Input.doc_id,Answer.relevance.0,Answer.relevance.2\nA1,1,d1,false,true\n",
        [("A1", "1", "d1", 2)],
    ),
    "mturk answers": (
        'WorkerId,Input.query_id,Input.doc_id,Answer.taskAnswers\nA1,1,d1,"[{""relevance"":{""label"":""2""}}]"\n'
        'A1,1,d2,"[{""relevance"":{""0"":true,""2"":false}}]"\n',
        [("A1", "1", "d1", 2), ("A1", "1", "d2", 0)],
    ),
    "appen": (
        "_unit_id,_worker_id,_tainted,query_id,doc_id,relevance\n1,77,false,1,d1,2\n1,78,true,1,d1,0\n",
        [("77", "1", "d1", 2)],
    ),
    "quepid": (
        "Team Name,Case Name,Case ID,Query Text,Doc ID,Rating,User Name\nt,c,1,heat,d1,2,Ann\n",
        [("Ann", "heat", "d1", 2)],
    ),
    "form": (
        "Timestamp,Email Address,Query ID,Document ID,Relevance\n11/28/2026 12:01:02,a@x.org,1,d1,2\n",
        [("a@x.org", "1", "d1", 2)],
    ),
    "label sleuth": (
        "workspace_id,category_name,document_id,text,uri,label,label_type,annotator\nw,1,d1,t,u,true,Standard,ann\n",
        [("ann", "1", "d1", 1)],
    ),
    "old doccano": (
        '{"id": 1, "meta": {"query_id": "1", "doc_id": "d1"}, "annotations": [{"label": 2, "user": 7}]}\n',
        [("7", "1", "d1", 2)],
    ),
    "several": (
        'annotator,query_id,doc_id,relevance\nann,1,d1,"{""choices"":[""1"",""0""]}"\nann,1,d2,1#0\nann,1,d3,2\n',
        [("ann", "1", "d3", 2)],
    ),
}


@pytest.mark.parametrize("tool", CROWDS)
def test_labels_of_crowds_and_forms(tmp_path: Path, tool: str) -> None:
    content, labels = CROWDS[tool]
    assert read(tmp_path / ("l.jsonl" if content.startswith("{") else "l.csv"), content)[0] == labels


def test_columns_that_may_name_annotators(tmp_path: Path) -> None:
    content = "query_id,doc_id,relevance,turker\n1,d1,1,ann\n1,d2,0,bob\n"
    with pytest.raises(
        FormatError, match=r"rename the column that names annotators \(turker\?\) to annotator, or name"
    ):
        read(tmp_path / "l.csv", content)
    said = read(tmp_path / "l.csv", content, annotator="team")[1]
    assert said == [
        "2 labels count as by 'team', but the column turker may name annotators; to count each person, rename it to "
        "annotator"
    ]


def test_webanno_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="found an export of INCEpTION; .*write one grade per document as CSV"):
        read(tmp_path / "l.tsv", "#FORMAT=WebAnno TSV 3.3\n#T_SP=custom\n\n1-1\t0-4\tHeat\t_\n")
