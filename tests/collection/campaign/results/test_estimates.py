"""Estimates of a campaign: its pool, its features, and nothing of them in what it exports."""

from pathlib import Path

import pytest

from collection import Campaign
from collection.core.errors import CampaignError

pytestmark = pytest.mark.slow


@pytest.fixture
def wings(tmp_path: Path) -> Campaign:
    """Two topics with a pool of four documents; x is in a run without being a document of the campaign."""
    (tmp_path / "t.tsv").write_text("1\twing lift\n2\twing drag\n")
    (tmp_path / "d.tsv").write_text("".join(f"d{n}\tWing number {n} has lift and drag.\n" for n in range(6)))
    for name, order in (("up", ["d0", "d1", "d2", "d3", "d4", "x"]), ("down", ["d3", "x", "d2", "d1", "d0", "d5"])):
        rows = [f"{q} Q0 {d} 0 {9 - n} {name}\n" for q in "12" for n, d in enumerate(order)]
        (tmp_path / f"{name}.run").write_text("".join(rows))
    campaign = Campaign.create(tmp_path / "wings", grades="0-3")
    campaign.imports.import_files(
        documents=[tmp_path / "d.tsv"], topics=tmp_path / "t.tsv", runs=[tmp_path / "up.run", tmp_path / "down.run"]
    )
    campaign.people.pools.add("depth", depth=2)
    return campaign


def judge(campaign: Campaign, query_id: str, **grades: int) -> None:
    for doc_id, grade in grades.items():
        campaign.judging.judge("ann", query_id, doc_id, grade)


def test_the_pool_of_topics_with_grades_is_estimated(wings: Campaign) -> None:
    with pytest.raises(CampaignError, match="no grades yet to estimate others from"):
        wings.results.evaluation.estimate("P@2")
    judge(wings, "1", d0=2, d1=0)
    found = wings.results.evaluation.estimate(["P@2", "nDCG@6"])
    assert found.pool[:3] == (1, 2, 2)  # topic 2 has no grade; d3 and x of topic 1 are unjudged
    assert found.table().index.tolist() == ["down", "up"]
    assert found.table().loc["up", "P@2"] == 0.5  # both documents are judged
    assert "of the judged pairs and the ranks." in found.about  # there are no features yet
    assert any("of the first 6 documents of" in note and "outside the pool" in note for note in found.notes)
    judge(wings, "1", d4=3)
    assert wings.results.evaluation.estimate("P@2").pool[:3] == (1, 3, 2)  # judged outside the pool


def test_features_are_read_where_they_are_up_to_date(wings: Campaign, tmp_path: Path) -> None:
    judge(wings, "1", d0=2, d1=0)
    judge(wings, "2", d0=0, d1=3)
    wings.corpus.features.update(blocks=("words",))
    assert "the ranks and the texts." in wings.results.evaluation.estimate("P@2").about
    (tmp_path / "more.tsv").write_text("d9\tAnother wing.\n")
    wings.imports.import_files(documents=[tmp_path / "more.tsv"])
    assert "the judged pairs and the ranks." in wings.results.evaluation.estimate("P@2").about


def test_of_a_judged_pool_the_estimates_are_the_values(wings: Campaign) -> None:
    for query_id in "12":
        judge(wings, query_id, d0=2, d1=0, d3=1)
    found = wings.results.evaluation.estimate("AP", runs=["up"])
    assert found.pool.unjudged == 2  # x cannot be judged: it has no text
    assert found.values["estimate_low"].tolist() != found.values["estimate_high"].tolist()


def test_exports_hold_no_estimates(wings: Campaign, tmp_path: Path) -> None:
    judge(wings, "1", d0=2, d1=0)
    before = wings.results.qrels.build()
    wings.results.evaluation.estimate("P@2")
    assert wings.results.qrels.build().equals(before)
    wings.exports.collection.write(tmp_path / "out")
    written = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert written
    for path in written:
        assert "estimate" not in path.name
        assert b"estimate_low" not in path.read_bytes(), path
