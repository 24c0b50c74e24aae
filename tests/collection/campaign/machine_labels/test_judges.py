"""Judges side by side in a campaign: comparison with people and votes as label sets."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from collection import Campaign
from collection.core.errors import ConflictError, InputError, UnknownNameError
from collection.machine_labels.votes import VOTES
from tests.helpers import SHARED, ok, run

DOCUMENTS = ("d1", "d2", "d6")
JUDGES = {"alpha-gpt": (3, 2, 0), "bravo": (3, 0, 1), "charlie": (2, 2, 0)}


@pytest.fixture
def judged(campaign: Campaign) -> Campaign:
    """Three judges of three documents of topic 1, one of them and two people in agreement."""
    for name, grades in JUDGES.items():
        labels = pd.DataFrame({"query_id": "1", "doc_id": DOCUMENTS, "relevance": grades})
        campaign.machine_labels.sets.label_by_file(labels, name, "llm", {"model": name})
    for doc_id, grade in zip(DOCUMENTS, JUDGES["charlie"], strict=True):
        campaign.judging.judge("ann", "1", doc_id, grade)
    return campaign


def labels_of(campaign: Campaign, name: str) -> list[float]:
    labels = campaign.machine_labels.sets.labels(name).set_index("doc_id")["relevance"]
    return [float(labels[doc_id]) for doc_id in DOCUMENTS]


def test_judges_are_compared_with_people_and_each_other(judged: Campaign) -> None:
    found = judged.machine_labels.judges.compare()
    assert found.judges == ("people", *JUDGES)
    assert found.systems == len(judged.store.corpus.runs())
    against = found.against("people").set_index("judge")
    assert against["pairs"].tolist() == [3, 3, 3]
    assert against.loc["charlie", ["same", "kappa", "bias", "tau"]].tolist() == [1, 1, 0, 1]
    assert against.loc["alpha-gpt", "bias"] == pytest.approx(1 / 3)
    assert judged.machine_labels.judges.compare(["bravo", "charlie"]).judges == ("people", "bravo", "charlie")
    with pytest.raises(UnknownNameError):
        judged.machine_labels.judges.compare(["bravo", "nobody"])


def test_what_people_judged_after_seeing_a_label_is_left_out(judged: Campaign) -> None:
    judged.settings.set_judging_page(show_labels="bravo")
    with judged.store.transaction():
        judged.machine_labels.sets.show("bob", "1", ["d1"])
    judged.judging.judge("bob", "1", "d1", 3)
    found = judged.machine_labels.judges
    assert found.compare(["alpha-gpt", "bravo"]).against("people")["pairs"].tolist() == [2, 2]
    assert found.compare(["alpha-gpt", "charlie"]).against("people")["pairs"].tolist() == [3, 3]


def test_labels_of_replies_and_samples_are_imported(campaign: Campaign, tmp_path: Path) -> None:
    (tmp_path / "judge.jsonl").write_text(
        '{"qid": 1, "docid": "d1", "model": "m", "label": "It helps.\\n##final score: 1"}\n'
        '{"qid": 1, "docid": "d2", "model": "m", "label": "```json\\n{\\"score\\": 0}\\n```"}\n'
        '{"qid": 1, "docid": "d6", "model": "m", "label": [1, 0, 1]}\n'
    )
    report = campaign.imports.import_files(machine_labels=[tmp_path / "judge.jsonl"])
    assert labels_of(campaign, "m") == [1, 0, 1]
    assert any("1 pair is labelled several times" in each for each in report.notices)


def test_judges_without_people_or_labels(campaign: Campaign) -> None:
    judges = campaign.machine_labels.judges
    with pytest.raises(InputError, match="expected label sets, found none"):
        judges.compare()
    for rule in [entry.name for entry in VOTES]:
        with pytest.raises(InputError, match="two label sets or more, found none"):
            judges.vote(rule)
    frame = pd.DataFrame({"query_id": "1", "doc_id": DOCUMENTS, "relevance": 1})
    campaign.machine_labels.sets.label_by_file(frame, "one", "llm", {})
    with pytest.raises(InputError, match="two judges or more to compare, found one"):
        judges.compare()
    campaign.machine_labels.sets.label_by_file(frame, "two", "llm", {})
    assert judges.compare().judges == ("one", "two")
    with pytest.raises(InputError, match="needs people's grades, found none"):
        judges.vote("weighted")


def test_clicks_are_no_judge(judged: Campaign) -> None:
    """Their probabilities have more values than a scale."""
    frame = pd.DataFrame({"query_id": "1", "doc_id": [f"c{n}" for n in range(150)]})
    frame = frame.assign(relevance=[n / 150 for n in range(150)])
    judged.machine_labels.sets.label_by_file(frame, "clicks", "clicks", {})
    judges = judged.machine_labels.judges
    assert judges.names() == list(JUDGES)
    assert judges.compare().judges == ("people", *JUDGES)
    assert judges.vote("majority").pairs == 3


def test_votes_are_label_sets_of_their_own(judged: Campaign) -> None:
    judges, before = judged.machine_labels.judges, judged.store.judgements.counts()
    expected = {"majority": [3, 2, 0], "median": [3, 2, 0], "mean": [3, 1, 0], "weighted": [2, 2, 0]}
    assert set(expected) == {entry.name for entry in VOTES}
    for rule, grades in expected.items():
        assert judges.vote(rule, list(JUDGES)).added == 3
        assert labels_of(judged, rule) == grades, rule
    made = judged.machine_labels.sets.named("weighted")
    assert made.settings["weights"]["charlie"] == 1
    assert made.settings["label_sets"] == list(JUDGES)
    assert judged.store.judgements.counts() == before
    assert judges.vote("majority").added == 0  # by default no votes vote
    frame = pd.DataFrame({"query_id": "1", "doc_id": ["d8"], "relevance": [1]})
    for name in ("alpha-gpt", "bravo"):
        judged.machine_labels.sets.label_by_file(frame, name, "llm", {"model": name})
    assert judges.vote("majority").added == 1
    assert judges.vote("majority", name="all", least=3).pairs == 3
    with pytest.raises(ConflictError, match="was made in another way"):
        judges.vote("median", name="majority")
    with pytest.raises(InputError, match="least: expected 1 to 3, the number of label sets, found 4"):
        judges.vote("median", name="more", least=4)
    with pytest.raises(UnknownNameError):
        judges.vote("unanimous")


def test_a_vote_may_favour_the_runs_of_each_of_its_models(judged: Campaign) -> None:
    runs = judged.store.corpus.runs()["run"].tolist()
    assert "alpha" in runs, "the campaign of conftest has a run of this name"
    judged.machine_labels.judges.vote("median", name="all of them")
    sets = judged.machine_labels.sets
    assert sets.models(sets.named("all of them")) == list(JUDGES)
    sets.declare_runs("all of them", ["alpha"])
    cautions = judged.machine_labels.study.warnings("all of them")
    assert cautions[0].startswith(
        "The judging models alpha-gpt, bravo and charlie are part of 1 pooled system as declar"
    )


def test_commands_print_judges_and_make_votes(judged: Campaign) -> None:
    shown = ok("labels", "matrix", judged.directory)
    assert "charlie" in shown
    assert "100%" in shown
    assert "[4] charlie" in shown
    bias = ok("labels", "matrix", judged.directory, "--statistic", "bias", "--format", "tsv").splitlines()
    assert bias[0].split("\t") == ["judge", "people", *JUDGES]
    assert np.isclose(float(bias[2].split("\t")[1]), 1 / 3)
    assert '"tau_ap"' in ok("labels", "matrix", judged.directory, "bravo", "charlie", "--format", "json")
    assert "Labelled 3 pairs in the label set vote." in ok(
        "labels", "vote", judged.directory, "majority", "alpha-gpt", "charlie", "--name", "vote"
    )
    refused = run("labels", "matrix", judged.directory, "--statistic", "nothing")
    assert refused.exit_code == 2
    assert "unknown statistic of two judges" in refused.stderr


def test_labels_off_the_scale_are_left_out_with_a_caution(judged: Campaign) -> None:
    frame = pd.DataFrame({"query_id": "1", "doc_id": DOCUMENTS, "relevance": [2, 5, 0]})
    judged.machine_labels.sets.label_by_file(frame, "odd", "llm", {})
    study = judged.machine_labels.study
    assert study.compare("odd", resamples=0).pairs == 2
    assert "1 label is no grade of this campaign, such as 5: the agreement with people leaves it out." in " ".join(
        study.warnings("odd")
    )
    assert judged.machine_labels.judges.compare(["odd", "bravo"]).against("people")["pairs"].tolist() == [3, 3]
    judged.machine_labels.judges.vote("majority", ["odd", "bravo"], name="two", least=1)
    assert labels_of(judged, "two") == [2, 0, 0]
    judged.machine_labels.sets.label_by_file(frame.assign(relevance=7), "all odd", "llm", {})
    with pytest.raises(InputError, match="grades of the scale, found 7"):
        study.compare("all odd")


@pytest.mark.long
def test_the_judges_of_dl_2019(tmp_path: Path) -> None:
    """All 13 judges of TREC DL 2019 have the published shares of equal grades; binary ones are mapped."""
    folder, runs = SHARED / "data" / "dl19-machine-labels", SHARED / "data" / "trecdl19-runs"
    if not folder.exists():
        pytest.skip("needs ../shared/data/dl19-machine-labels")
    with Campaign.create(tmp_path / "campaign", grades="0-3") as campaign:
        campaign.imports.import_files(topics=runs / "topics.jsonl", qrels=runs / "qrels.txt")
        judgements = campaign.store.judgements.counts()["judgements"]
        report = campaign.imports.import_files(machine_labels=sorted(folder.glob("*.gz")))
        assert len(report.done) == 13
        assert campaign.store.judgements.counts()["judgements"] == judgements
        same = campaign.machine_labels.judges.compare().against("people").set_index("judge")["same"]
    published = {"gpt4-umbrela-zeroshot": 0.555, "gpt4o-umbrela-zeroshot": 0.579, "llama3-70b-4prompts": 0.375,
                 "flant5large-4prompts": 0.479, "flant5large-sun-decomposed": 0.398,
                 "llama3.2-umbrela-zeroshot": 0.320}  # fmt: skip
    assert {name: round(float(same[f"dl19-{name}"]), 3) for name in published} == published


@pytest.mark.parametrize("option", ["qrels", "machine_labels"])
def test_umbrela_qrels_of_a_case_become_a_label_set(tmp_path: Path, option: str) -> None:
    path = SHARED / "cases" / "29-llm-qrels" / "qrels_umbrela_gpt-4o.txt"
    if not path.exists():
        pytest.skip("needs ../shared/cases/29-llm-qrels")
    (tmp_path / "topics.tsv").write_text("".join(f"{n}\ttopic {n}\n" for n in range(1, 7)))
    with Campaign.create(tmp_path / "campaign", grades="0-3") as campaign:
        campaign.imports.import_files(topics=tmp_path / "topics.tsv", **{option: path})  # type: ignore[arg-type]
        (made,) = campaign.machine_labels.sets.summaries()
        assert (made.name, made.graded) == ("qrels_umbrela_gpt-4o", 65)
        assert campaign.store.judgements.counts()["judgements"] == 0
