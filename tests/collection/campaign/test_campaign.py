"""The verbs of a campaign, together."""

import errno
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pandas as pd
import pytest

from collection import Campaign, GradeScale, Judgement
from collection.core.errors import (
    CampaignError,
    ConflictError,
    FormatError,
    InputError,
    JudgementError,
    UnknownNameError,
)
from collection.core.layout import DATABASE
from collection.measures import parse
from collection.store import Store
from tests.collection.campaign.corpus.test_images import PNG
from tests.helpers import at_once


def graded(query_id: str, doc_id: str, relevance: int | None, annotator: str = "ann", **more: object) -> Judgement:
    return Judgement(str(uuid4()), annotator, query_id, doc_id, "graded", relevance, **more)  # type: ignore[arg-type]


@pytest.mark.slow
def test_from_runs_to_values(campaign: Campaign, tmp_path: Path) -> None:
    while documents := campaign.judging.next_pairs("ann", "1", 1).documents:
        campaign.judging.judge_many(
            [graded("1", documents[0].doc_id, 3 if documents[0].doc_id == "d2" else 0)], leased_only=True
        )
    assert campaign.progress.topics("1")[["pool", "judged"]].values.tolist() == [[3, 3]]
    written = campaign.exports.files.write(
        qrels=tmp_path / "qrels.txt", pool=tmp_path / "pool.tsv", judgements=tmp_path / "log.jsonl"
    )
    assert list(written.values()) == [3, 3, 6]
    assert (tmp_path / "qrels.txt").read_text() == "1 0 d1 0\n1 0 d2 3\n1 0 d6 0\n"
    assert (tmp_path / "pool.tsv").read_text().splitlines()[:2] == [
        "query_id\tdoc_id\tstrategy\trank",
        "1\td2\tdepth\t1",
    ]
    log = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert {(row["strategy"], row["pool_rank"]) for row in log} == {("depth", 1), ("depth", 2)}
    assert campaign.results.evaluation.evaluate([parse("RR")]).means()["RR"].to_dict() == {"alpha": 0.5, "beta": 1.0}


def test_pool_order_and_leases(campaign: Campaign) -> None:
    first = campaign.judging.next_pairs("ann", "1", 2).documents
    assert [d.doc_id for d in first] == ["d2", "d1"]
    assert [d.doc_id for d in campaign.judging.next_pairs("ann", "1", 5, holding=["d2", "d1"]).documents] == ["d6"]
    # What ann's browser has loaded behind her screen goes to bob, who has nothing, and what is on a screen does not.
    assert [d.doc_id for d in campaign.judging.next_pairs("bob", "1", 5).documents] == ["d6"]
    assert campaign.judging.next_pairs("bob", "1", 5, holding=["d6"]).documents == []
    campaign.judging.skip("ann", "2", "d4")
    order = [d.doc_id for d in campaign.judging.next_pairs("ann", "2", 5).documents]
    assert order[-1] == "d4"
    assert sorted(order) == ["d4", "d5", "d7"]


def test_judging_is_idempotent_by_uuid(campaign: Campaign) -> None:
    judgement = graded("1", "d1", 2)
    assert campaign.judging.judge_many([judgement]).saved == [judgement.uuid]
    assert campaign.judging.judge_many([judgement, judgement]).saved == [judgement.uuid] * 2
    assert campaign.store.judgements.counts()["logged"] == 1
    stolen = campaign.judging.judge_many([judgement._replace(doc_id="d2")])
    assert "of another judgement" in stolen.refused[0].reason


def test_undo_leaves_a_trace_and_opens_the_pair(campaign: Campaign) -> None:
    campaign.judging.judge_many([graded("1", "d1", 2)])
    undo = Judgement(str(uuid4()), "ann", "1", "d1", "undone")
    assert campaign.judging.judge_many([undo]).saved == [undo.uuid]
    assert campaign.store.judgements.table().empty
    assert len(campaign.store.judgements.table(current=False)) == 2
    assert "d1" in [d.doc_id for d in campaign.judging.next_pairs("ann", "1", 9).documents]
    again = campaign.judging.judge_many([undo._replace(uuid="other")])
    assert "no judgement of 'd1' to undo" in again.refused[0].reason


@pytest.mark.parametrize(
    ("judgement", "reason"),
    [
        (graded("1", "d1", 4), r"expected a grade of this campaign \(0, 1, 2, 3\), found 4"),
        (graded("1", "d1", None), "found None"),
        (graded("9", "d1", 1), "topic '9' is not in the campaign"),
        (graded("1", "d99", 1), "document 'd99' is not in the campaign"),
        (graded("1", "d1", 1, annotator=" "), "expected the annotator of a judgement as one line .*, found ' '"),
        (Judgement("u", "ann", "1", "d1", "cannot judge"), 'expected a reason for "cannot judge", found none'),
        (
            Judgement("u", "ann", "1", "d1", "cannot judge", 2, "because"),
            "expected no grade with 'cannot judge', found 2",
        ),
    ],
)
def test_refusals_say_why(campaign: Campaign, judgement: Judgement, reason: str) -> None:
    with pytest.raises(JudgementError, match=reason):
        campaign.judging.write(judgement)
    result = campaign.judging.judge_many([judgement, graded("1", "d2", 1)])
    assert len(result.saved) == len(result.refused) == 1


@pytest.mark.parametrize("number", [np.int64, np.uint8, np.float64, np.float32, float])
def test_grades_of_numpy_are_stored_as_numbers(campaign: Campaign, number: Callable[[int], int]) -> None:
    campaign.judging.judge("ann", "1", "d1", number(2))
    written = campaign.judging.judge_many([graded("1", "d2", number(3))])
    assert not written.refused
    assert campaign.store.judgements.table()["relevance"].tolist() == [2, 3]
    kinds = campaign.store.connection.column("SELECT typeof(relevance) FROM judgements ORDER BY id")
    assert kinds == ["integer", "integer"]


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"relevance": True}, "expected a grade of this campaign"),
        ({"passages": ["drag"]}, "expected a passage as"),
        ({"passages": [(5, 2)]}, "expected a passage as"),
        ({"flagged": "yes"}, "expected flagged as True or False, found 'yes'"),
        ({"annotator": "Ann"}, "expected the annotator's name as in the campaign, 'ann', found 'Ann'"),
        ({"annotator": "qrels:nist"}, "reserved for imported qrels, found 'qrels:nist'"),
    ],
)
def test_judge_refuses_what_could_not_be_exported(campaign: Campaign, more: dict[str, Any], reason: str) -> None:
    campaign.judging.judge("ann", "1", "d2", 1)
    with pytest.raises(JudgementError, match=reason):
        campaign.judging.judge(**{"annotator": "ann", "query_id": "1", "doc_id": "d1", "relevance": 1} | more)
    assert len(campaign.store.judgements.table(current=False)) == 1


def test_a_judgement_without_a_uuid_is_refused(campaign: Campaign) -> None:
    (refused,) = campaign.judging.judge_many([graded("1", "d1", 1)._replace(uuid="")]).refused
    assert refused.reason == "expected a judgement with a uuid, found ''"


def test_only_what_was_handed_out_where_that_is_asked(campaign: Campaign) -> None:
    refused = campaign.judging.judge_many([graded("1", "d1", 1)], leased_only=True).refused
    assert "is not assigned to ann" in refused[0].reason
    campaign.judging.next_pairs("ann", "1", 5)
    assert campaign.judging.judge_many([graded("1", "d1", 1)], leased_only=True).refused == []
    assert campaign.judging.judge_many([graded("1", "d1", 2)], leased_only=True).refused == []


@pytest.mark.slow
def test_pool_grows_by_what_is_new(make_campaign: Callable[..., Campaign]) -> None:
    campaign = make_campaign(pooled=False)
    assert campaign.people.pools.add("depth", depth=1, dry_run=True).new == 3
    assert campaign.store.pool.pairs().empty
    assert campaign.people.pools.add("depth", depth=1).new == 3
    report = campaign.people.pools.add("depth", depth=2)
    assert (report.pairs, report.new) == (6, 3)
    assert campaign.people.pools.add("depth", depth=2).new == 0
    assert campaign.store.pool.pairs()["doc_id"].tolist()[:3] == ["d1", "d2", "d6"]
    assert campaign.store.pool.rounds()["pairs"].tolist() == [3, 3]


def test_importing_again_changes_nothing(campaign: Campaign, files: Path) -> None:
    before = campaign.store.judgements.counts()
    report = campaign.imports.import_files(
        documents=[files / "documents.jsonl"], topics=files / "topics.jsonl", runs=[files / "a.run"]
    )
    assert campaign.store.judgements.counts() == before
    assert "already" in report.done[2]


def test_one_wrong_file_and_nothing_is_imported(campaign: Campaign, files: Path) -> None:
    before, runs = campaign.store.judgements.counts(), sorted((campaign.directory / "runs").iterdir())
    (files / "more.jsonl").write_text('{"doc_id": "new", "text": "t"}\n')
    (files / "c.run").write_text("1 Q0 d1 1 2.0 gamma\n")
    (files / "bad.run").write_text("1 Q0 d1 1 2.0 delta\n1 Q0 d2 2 x.x delta\n")
    with pytest.raises(FormatError, match=r"bad\.run, line 2: expected"):
        campaign.imports.import_files(documents=[files / "more.jsonl"], runs=[files / "c.run", files / "bad.run"])
    assert campaign.store.judgements.counts() == before
    assert sorted((campaign.directory / "runs").iterdir()) == runs


def test_the_same_tag_twice_is_told_apart_by_file(campaign: Campaign, files: Path) -> None:
    (files / "other.run").write_text("1 Q0 d7 1 2.0 alpha\n")
    report = campaign.imports.import_files(runs=[files / "other.run"])
    assert "named 'other' after its file" in report.notices[0]
    assert campaign.store.corpus.runs()["run"].tolist() == ["alpha", "beta", "other"]


def test_replacing_a_run(campaign: Campaign, files: Path) -> None:
    (files / "a.run").write_text("1 Q0 d8 1 2.0 alpha\n")
    (files / "alpha.run").write_text("1 Q0 d7 1 2.0 alpha\n")
    campaign.imports.import_files(runs=[files / "a.run"], replace=True)
    (run,) = campaign.corpus.runs(["alpha"])
    assert run.frame["doc_id"].tolist() == ["d8"]
    with pytest.raises(ConflictError, match="already has a run 'alpha' with other content"):
        campaign.imports.import_files(runs=[files / "alpha.run"])
    assert len(list((campaign.directory / "runs").iterdir())) == 3  # somebody may be about to read the replaced one
    campaign.imports.import_files(topics=files / "topics.jsonl")
    assert len(list((campaign.directory / "runs").iterdir())) == 2


def test_unknown_topics_are_left_out_and_counted(campaign: Campaign, files: Path) -> None:
    (files / "wide.run").write_text("1 Q0 d1 1 2.0 wide\n7 Q0 d1 1 2.0 wide\n8 Q0 d1 1 2.0 wide\n")
    report = campaign.imports.import_files(runs=[files / "wide.run"])
    assert any("skipped 2 topics that are not in the campaign (7 and 8)" in n for n in report.notices)
    (run,) = campaign.corpus.runs(["wide"])
    assert run.frame["query_id"].tolist() == ["1"]
    (files / "foreign.run").write_text("7 Q0 d1 1 2.0 foreign\n")
    with pytest.raises(InputError, match="expected topics of the campaign"):
        campaign.imports.import_files(runs=[files / "foreign.run"])


def test_of_many_runs_with_documents_without_text_three_are_named(campaign: Campaign, files: Path) -> None:
    """The run n has the documents 1 to n: every document counts once in the total."""
    paths = [files / f"run{n}.run" for n in range(1, 6)]
    for n, path in enumerate(paths, start=1):
        path.write_text("".join(f"1 Q0 m{i} {i} {9 - i} run{n}\n" for i in range(1, n + 1)))
    (note,) = (n for n in campaign.imports.import_files(runs=paths[:2]).notices if "no text" in n)
    assert note.startswith("2 documents of the runs have no text (2 in run 'run2' and 1 in run 'run1'). ")
    paths = [path.rename(path.with_stem(path.stem.replace("run", "more"))) for path in paths]
    for path in paths:
        path.write_text(path.read_text().replace("run", "more"))
    (note,) = (n for n in campaign.imports.import_files(runs=paths).notices if "no text" in n)
    assert note.startswith(
        "5 documents of the runs have no text (5 in run 'more5', 4 in run 'more4', 3 in run 'more3' "
        "and others in 2 more runs). "
    )


def test_documents_without_text_are_pooled_and_wanted(campaign: Campaign, files: Path, tmp_path: Path) -> None:
    (files / "large.run").write_text("1 Q0 m1 1 2.0 large\n1 Q0 d1 2 1.0 large\n")
    report = campaign.imports.import_files(runs=[files / "large.run"])
    assert any("1 document of the runs has no text (1 in run 'large')" in n for n in report.notices)
    assert campaign.people.pools.add("depth", depth=2).without_text == 1
    campaign.exports.files.write(missing_documents=tmp_path / "missing.txt")
    assert (tmp_path / "missing.txt").read_text() == "m1\n"
    assert "m1" not in [d.doc_id for d in campaign.judging.next_pairs("ann", "1", 9).documents]
    (files / "later.jsonl").write_text('{"_id": "m1", "text": "here it is"}\n')
    campaign.imports.import_files(documents=[files / "later.jsonl"])
    assert campaign.corpus.document("m1").text == "here it is"  # type: ignore[union-attr]
    assert campaign.store.corpus.missing_documents() == []
    assert "m1" in [d.doc_id for d in campaign.judging.next_pairs("ann", "1", 9).documents]


def test_blank_documents_are_counted_at_import(campaign: Campaign, files: Path, tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(PNG)
    records = [
        {"id": "e1"},
        {"id": "e2", "title": " ", "text": "\u00a0\n"},
        {"id": "e3", "title": "only a title"},
        {"id": "e4", "text": "only a text"},
        {"id": "e5", "images": "picture.png"},
    ]
    path = tmp_path / "blank.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    report = campaign.imports.import_files(documents=[path, files / "documents.jsonl"])
    assert report.notices == [f"{path}: 2 documents have neither a title nor a text; annotators see an empty card"]
    path.write_text('{"id": "e6"}\n')
    (notice,) = campaign.imports.import_files(documents=[path]).notices
    assert notice.startswith(f"{path}: 1 document has neither a title nor a text")


def test_imported_qrels_are_an_annotator_of_their_own(campaign: Campaign, files: Path) -> None:
    (files / "nist.txt").write_text("1 0 d1 2\n1 0 d2 -1\n2 0 d4 1\n9 0 d1 1\n")
    report = campaign.imports.import_files(qrels=files / "nist.txt")
    assert any("skipped 1 topic" in n for n in report.notices)
    assert any("skipped 1 pair with a negative grade" in n for n in report.notices)
    assert campaign.results.qrels.build().values.tolist() == [["1", "d1", 2], ["2", "d4", 1]]
    assert campaign.store.judgements.annotators()["annotator"].tolist() == ["qrels:nist"]
    assert "2 unchanged" in campaign.imports.import_files(qrels=files / "nist.txt").done[0]
    assert "d1" not in [d.doc_id for d in campaign.judging.next_pairs("ann", "1", 9).documents]


def test_a_notice_on_costs_of_many_unknown_runs_tells_how_many_there_are(campaign: Campaign, files: Path) -> None:
    (files / "costs.csv").write_text("run,latency_ms\nalpha,2.5\n" + "".join(f"x{n},1\n" for n in range(7)))
    (notice,) = campaign.imports.import_files(costs=files / "costs.csv").notices
    assert notice.endswith("no run or system called 'x0', 'x1', 'x2', 'x3', 'x4' and 2 more")


def test_costs_of_runs_are_kept_and_shown_beside_their_values(campaign: Campaign, files: Path) -> None:
    say = [Judgement(str(uuid4()), "ann", "1", "d1", "graded", 1)]
    campaign.judging.judge_many(say)
    assert campaign.results.evaluation.evaluate([parse("RR")]).costs is None
    (files / "costs.csv").write_text("run,latency_ms,hardware\nalpha,2.5,laptop\nother,1,\n")
    report = campaign.imports.import_files(costs=files / "costs.csv")
    assert "the campaign has no run or system called 'other'" in report.notices[0]
    (files / "more.csv").write_text("run,price_usd\nalpha,0.5\nbeta,3\n")
    campaign.imports.import_files(costs=files / "more.csv")
    costs = campaign.results.evaluation.evaluate([parse("RR")]).costs
    assert costs is not None
    assert costs.loc["alpha"].to_dict() == {"latency_ms": 2.5, "hardware": "laptop", "price_usd": 0.5}
    assert costs.loc["beta", "price_usd"] == 3
    (files / "more.csv").write_text("run,price_usd\nalpha,0.75\n")
    with pytest.raises(ConflictError, match="expected 0.5, the price_usd of run 'alpha' in the campaign, found 0.75"):
        campaign.imports.import_files(costs=files / "more.csv")
    campaign.imports.import_files(costs=files / "more.csv", replace=True)
    assert campaign.store.corpus.costs().set_index("run").loc["alpha", "price_usd"] == 0.75


def test_explaining_a_value(campaign: Campaign) -> None:
    campaign.judging.judge("ann", "1", "d2", 1)
    explanation = campaign.results.evaluation.explain(parse("RR"), "alpha", "1")
    assert explanation.value == 0.5
    assert explanation.ranks["doc_id"].tolist() == ["d1", "d2", "d3"]
    with pytest.raises(UnknownNameError, match="unknown run 'gamma'"):
        campaign.results.evaluation.explain(parse("RR"), "gamma", "1")


def test_a_grade_outside_the_scale_is_located(campaign: Campaign, files: Path) -> None:
    (files / "high.txt").write_text("# grades to 9\n1 0 d1 2\n\n1 0 d2 7\n")
    with pytest.raises(
        FormatError, match=r"high\.txt, line 4: expected a grade of this campaign \(0, 1, 2, 3.*found 7"
    ):
        campaign.imports.import_files(qrels=files / "high.txt")


def test_a_run_imported_again_brings_the_topics_that_are_known_by_now(campaign: Campaign, files: Path) -> None:
    (files / "wide.run").write_text("1 Q0 d1 1 2.0 wide\n3 Q0 d2 1 2.0 wide\n")
    campaign.imports.import_files(runs=[files / "wide.run"])
    (files / "more.tsv").write_text("3\tthree\n")
    campaign.imports.import_files(topics=files / "more.tsv", runs=[files / "wide.run"])
    (run,) = campaign.corpus.runs(["wide"])
    assert run.frame["query_id"].tolist() == ["1", "3"]
    assert "already" in campaign.imports.import_files(runs=[files / "wide.run"]).done[0]


def test_two_files_with_one_tag_in_one_import_are_two_runs(campaign: Campaign, files: Path) -> None:
    for name, doc in (("one", "d1"), ("two", "d2")):
        (files / f"{name}.run").write_text(f"1 Q0 {doc} 1 2.0 same\n")
    campaign.imports.import_files(runs=[files / "one.run", files / "two.run"], replace=True)
    assert {"one", "two"} <= set(campaign.store.corpus.runs()["run"])


def test_what_a_killed_import_left_is_swept_away(campaign: Campaign, files: Path) -> None:
    (campaign.directory / "runs" / "left.0123abcd-5.part").write_text("half a run")
    campaign.imports.import_files(topics=files / "topics.jsonl")
    assert {p.name for p in (campaign.directory / "runs").iterdir()} == set(campaign.store.corpus.runs()["file"])


def test_other_qrels_of_the_same_name_are_a_conflict(campaign: Campaign, files: Path) -> None:
    (files / "q.txt").write_text("1 0 d1 2\n")
    campaign.imports.import_files(qrels=files / "q.txt")
    (files / "q.txt").write_text("1 0 d1 3\n")
    with pytest.raises(ConflictError, match="expected 2, the grade of 'qrels:q' in the campaign .*, found 3"):
        campaign.imports.import_files(qrels=files / "q.txt")
    assert "1 changed" in campaign.imports.import_files(qrels=files / "q.txt", replace=True).done[0]
    assert campaign.results.qrels.build()["relevance"].tolist() == [3]


@pytest.mark.slow
def test_ids_with_odd_characters_come_out_as_they_went_in(campaign: Campaign, files: Path, tmp_path: Path) -> None:
    odd = ["a\u00a0b", "c\u3000", "d\u2028e", "0"]
    (files / "odd.run").write_text("".join(f"1 Q0 {d} {r} {9 - r} odd\n" for r, d in enumerate(odd)))
    (files / "odd.jsonl").write_text("".join(json.dumps({"id": d, "text": "t"}) + "\n" for d in odd))
    campaign.imports.import_files(runs=[files / "odd.run"], documents=[files / "odd.jsonl"])
    campaign.people.pools.add("depth", depth=5)
    campaign.judging.judge_many([graded("1", d, 1) for d in odd])
    campaign.exports.files.write(qrels=tmp_path / "q.txt", pool=tmp_path / "p.tsv")
    from collection.formats import read_qrels

    assert sorted(read_qrels(tmp_path / "q.txt")["doc_id"]) == sorted(odd)


def test_a_topic_cannot_have_the_name_of_the_mean(campaign: Campaign, files: Path) -> None:
    (files / "all.tsv").write_text("all\teverything\n")
    with pytest.raises(InputError, match="topic id 'all' is reserved"):
        campaign.imports.import_files(topics=files / "all.tsv")


@pytest.mark.slow
def test_pooling_twice_at_once_adds_every_pair_once(make_campaign: Callable[..., Campaign]) -> None:
    directory = make_campaign(pooled=False).directory
    new: list[int] = []

    def pool() -> None:
        with Campaign(directory) as campaign:
            new.append(campaign.people.pools.add("depth", depth=2).new)

    at_once(*[pool] * 4)
    assert sorted(new) == [0, 0, 0, 6]


def test_a_wrong_parameter_of_a_strategy_is_named(campaign: Campaign) -> None:
    with pytest.raises(InputError, match="unknown depth parameter 'deep'; did you mean 'depth'"):
        campaign.people.pools.add("depth", deep=3)


def test_runs_without_a_judged_topic_count_zero_and_are_named(campaign: Campaign, files: Path) -> None:
    (files / "narrow.run").write_text("2 Q0 d4 1 2.0 narrow\n")
    campaign.imports.import_files(runs=[files / "narrow.run"])
    campaign.judging.judge_many([graded("1", "d2", 1)])
    evaluation = campaign.results.evaluation.evaluate([parse("RR")])
    assert evaluation.means().loc["narrow", "RR"] == 0
    assert [c.missing_topics for c in evaluation.coverage if c.run == "narrow"] == [("1",)]


def test_status_is_plain_json_from_the_first_judgement_on(campaign: Campaign) -> None:
    campaign.judging.judge_many([graded("1", "d1", 1)])  # a script's: no seconds
    assert campaign.results.overview.status()["annotators"][0]["seconds"] is None
    json.dumps(campaign.results.overview.status(), allow_nan=False)


@pytest.mark.slow
def test_what_to_do_next(tmp_path: Path, files: Path) -> None:
    with Campaign.create(tmp_path / "fresh", title="Fresh") as campaign:
        assert campaign.results.overview.next_step().page == "import"
        campaign.imports.import_files(
            topics=files / "topics.jsonl", documents=[files / "documents.jsonl"], runs=[files / "a.run"]
        )
        assert campaign.results.overview.next_step().page == "pool"
        campaign.people.pools.add("depth", depth=1)
        assert campaign.results.overview.next_step().page == "judge"
        campaign.judging.judge_many([graded("1", "d1", 0), graded("2", "d4", 1)])
        assert campaign.results.overview.next_step().page == "export"
        status = campaign.results.overview.status()
        assert (status["title"], status["judged"], status["remaining"]) == ("Fresh", 2, 0)
        json.dumps(status)


def test_creating(tmp_path: Path) -> None:
    Campaign.create(tmp_path / "one").close()
    with pytest.raises(CampaignError, match="one already contains a campaign"):
        Campaign.create(tmp_path / "one")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("")
    with pytest.raises(CampaignError, match="full: expected a new or empty directory, found files"):
        Campaign.create(tmp_path / "full")
    with pytest.raises(CampaignError, match="create one with `cleverdon new .*nowhere`"):
        Campaign(tmp_path / "nowhere")


def test_grades_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "grades.json"
    file.write_text('{"0": "No", "4": "Best: nothing better"}')
    with Campaign.create(tmp_path / "scale", grades=file) as campaign:
        assert campaign.settings.grades == GradeScale({0: "No", 4: "Best: nothing better"})
        assert campaign.settings.grades.label(4) == "Best"
    for text, message in [
        ("[1, 2]", r"grades\.json: expected two or more grades from 0 to 20"),
        ('{"0": "only one"}', r"grades\.json: expected two or more grades from 0 to 20, .* found '0'"),
        ('{"0": "a", "x": "b"}', r"grades\.json: expected .* found '0' and 'x'"),
        ('{"0": "a",\n"1" "b"}', r"grades\.json, line 2: expected grades as JSON, .* found invalid JSON"),
        ('{"0": "a", "21": "b"}', r"grades\.json: expected two or more grades from 0 to 20"),
        ('{"0": "a", "1": null}', r"grades\.json: expected a text as sentence of grade 1, found 'null'"),
    ]:
        file.write_text(text)
        with pytest.raises(InputError, match=message):
            Campaign.create(tmp_path / "bad", grades=file)
    assert not (tmp_path / "bad").exists()
    with pytest.raises(InputError, match="the lowest and the highest grade, such as 0-3, or a JSON file"):
        Campaign.create(tmp_path / "bad", grades="0.5")


@pytest.mark.parametrize(
    ("ends", "grades", "level"),
    [("0-2", [0, 1, 2], 1), ("1-5", [1, 2, 3, 4, 5], 2), ("0-20", list(range(21)), 1), ("3-4", [3, 4], 4)],
)
def test_scales_by_their_ends(tmp_path: Path, ends: str, grades: list[int], level: int) -> None:
    """The lowest grade is never relevant by default."""
    with Campaign.create(tmp_path / "scale", grades=ends) as campaign:
        scale = campaign.settings.grades
        assert list(scale.sentences) == grades
        assert scale.label(grades[0]) == "Lowest"
        assert scale.label(grades[-1]) == "Highest"
        assert len({scale.label(grade) for grade in scale.sentences}) == len(grades)
        assert campaign.settings.loop().level == level
    with Campaign(tmp_path / "scale") as campaign:
        assert campaign.settings.grades == scale


@pytest.mark.parametrize("ends", ["0-21", "5-1", "3-3", "0-", "-1-3", "a-b"])
def test_scales_that_are_none(tmp_path: Path, ends: str) -> None:
    with pytest.raises(InputError, match=r"grades: expected"):
        Campaign.create(tmp_path / "bad", grades=ends)


def test_a_secret_is_made_where_files_cannot_be_linked(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, target: Path) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted", str(target))

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    secret = campaign.operations.server_state.secret()
    assert len(secret) == 64
    assert campaign.operations.server_state.secret() == secret
    assert not list(campaign.directory.glob(".secret-*"))


def test_the_secret_is_whole_from_the_first_moment_and_private(campaign: Campaign) -> None:
    seen: list[bytes] = []

    def look() -> None:
        with Campaign(campaign.directory) as other:
            seen.append(other.operations.server_state.secret())

    at_once(*[look] * 8)
    assert set(seen) == {campaign.operations.server_state.secret()}
    assert len(campaign.operations.server_state.secret()) == 64
    assert not list(campaign.directory.glob(".secret-*"))
    assert (campaign.directory / ".secret").stat().st_mode & 0o777 == 0o600


def test_a_copied_directory_is_the_campaign(campaign: Campaign, tmp_path: Path) -> None:
    import shutil

    campaign.judging.judge_many([graded("1", "d1", 3)])
    campaign.close()
    shutil.copytree(campaign.directory, tmp_path / "copy")
    with Campaign(tmp_path / "copy") as copy:
        assert copy.results.qrels.build().values.tolist() == [["1", "d1", 3]]
        pd.testing.assert_frame_equal(
            copy.results.evaluation.evaluate([parse("RR")]).means(),
            pd.DataFrame(
                {"RR": [1.0, 0.0]},
                index=pd.Index(["alpha", "beta"], name="run"),
                columns=pd.Index(["RR"], name="measure"),
            ),
        )


def test_a_campaign_is_opened_from_its_directory_alone(tmp_path: Path, campaign: Campaign) -> None:
    with pytest.raises(CampaignError, match="expected the directory of a campaign, found a file"):
        Campaign(campaign.directory / DATABASE)
    assert repr(campaign) == f"Campaign({str(campaign.directory)!r})"
    (tmp_path / "other").mkdir()
    Store(tmp_path / "other" / DATABASE, create=True).close()
    with pytest.raises(CampaignError, match="expected the database of a campaign, found another one"):
        Campaign(tmp_path / "other")


def test_the_log_is_read_once_for_all_parts_of_a_page(campaign: Campaign) -> None:
    campaign.judging.judge("ann", "1", "d1", 2)
    statements: list[str] = []
    campaign.store.connection.db.conn.set_trace_callback(statements.append)

    def readings() -> list[int]:
        """The entry after which each reading of the log began."""
        reading = re.compile(r"FROM judgements WHERE id > (\d+) AND id <= \d+ ORDER BY id")
        starts = [reading.search(statement) for statement in statements]
        statements.clear()
        return [int(start[1]) for start in starts if start]

    def draw() -> None:
        assert campaign.results.qrels.graded_topics() == ("1",)
        assert campaign.results.evaluation.evaluate(["P@1"]).means().shape == (2, 1)
        assert campaign.results.qrels.count_decisive_pairs() == 0
        assert campaign.results.qrels.build(topics=["2"]).empty
        campaign.results.agreement.annotator_statistics()

    draw()
    assert set(readings()) == {0}
    draw()
    assert readings() == []
    campaign.judging.judge("ann", "1", "d2", 1)
    assert campaign.results.qrels.build()["relevance"].tolist() == [2, 1]
    draw()
    assert set(readings()) == {1}  # only what is new
    campaign.store.connection.db.conn.set_trace_callback(None)


def test_grades_of_a_transaction_are_forgotten_with_it(campaign: Campaign) -> None:
    campaign.judging.judge("ann", "1", "d1", 2)
    assert campaign.results.qrels.build()["relevance"].tolist() == [2]
    with pytest.raises(RuntimeError), campaign.transaction():
        campaign.judging.judge("ann", "1", "d1", 0)
        assert campaign.results.qrels.build()["relevance"].tolist() == [0]
        raise RuntimeError
    assert campaign.results.qrels.build()["relevance"].tolist() == [2]
    campaign.judging.judge("ann", "1", "d1", 3)
    assert campaign.results.qrels.build()["relevance"].tolist() == [3]
