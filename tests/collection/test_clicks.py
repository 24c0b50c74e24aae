"""Click logs: read, kept apart, and taken apart into examination of ranks and attractiveness of documents."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import minimize
from scipy.special import xlogy

from collection import Campaign, clicks, formats
from collection.core.errors import ColumnsError, ConflictError, FormatError, InputError, UnknownNameError
from collection.measures import parse
from tests.helpers import fails, ok, tries

COLUMNS = ["query_id", "doc_id", "rank", "shown", "clicked"]


def table(*rows: tuple[str, int, int, int], query_id: str = "1") -> pd.DataFrame:
    """Counts of one topic: document, rank, shown, clicked."""
    return pd.DataFrame([(query_id, *row) for row in rows], columns=COLUMNS)


def generated(seed: int, *, topics: int = 30, sessions: int = 30) -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame]:
    """Clicks of a world in which the position-based model is true: counts, examination, attractiveness."""
    rng = np.random.default_rng(seed)
    examination = 1 / np.arange(1, 11) ** 0.9
    rows, truth = [], []
    for topic in range(topics):
        attractive = rng.beta(1, 4, 20)
        truth += [(str(topic), f"d{d}", a) for d, a in enumerate(attractive)]
        for _ in range(sessions):
            # A system that is often right: what attracts stands high, and CTR by rank says little of examination.
            order = np.argsort(-(attractive + rng.normal(0, 0.25, 20)))[:10]
            for rank, d in enumerate(order, start=1):
                clicked = rng.binomial(50, examination[rank - 1] * attractive[d])
                rows.append((str(topic), f"d{d}", rank, 50, clicked))
    return (
        pd.DataFrame(rows, columns=COLUMNS),
        examination,
        pd.DataFrame(truth, columns=["query_id", "doc_id", "true"]),
    )


# --- reading ----------------------------------------------------------------------------------------


IMPRESSIONS = "query_id,doc_id,rank,shown,clicked\n1,a,1,1,1\n1,a,1,1,0\n1,b,2,1,0\n1,a,2,1,1\n"
COUNTED = [("1", "a", 1, 2, 1), ("1", "b", 2, 1, 0), ("1", "a", 2, 1, 1)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("c.csv", IMPRESSIONS),
        ("c.txt", IMPRESSIONS),
        ("c.tsv", IMPRESSIONS.replace(",", "\t")),
        ("c.log", IMPRESSIONS.replace(",", "\t")),
        ("counts.csv", "clicks,impressions,position,docno,qid,when\n1,2,1,a,1,x\n0,1,2,b,1,y\n1,1,2,a,1,z\n"),
        ("c.jsonl", "".join(json.dumps(dict(zip(COLUMNS, row, strict=True))) + "\n" for row in COUNTED)),
        (
            "bool.jsonl",
            '{"qid": 1, "docid": "a", "rank": 1, "shown": true, "clicked": true}\n'
            '{"qid": 1, "docid": "a", "rank": 1, "shown": true, "clicked": false}\n'
            '{"qid": 1, "docid": "b", "rank": 2, "shown": true, "clicked": false}\n'
            '{"qid": 1, "docid": "a", "rank": 2, "shown": true, "clicked": true}\n',
        ),
    ],
)
def test_every_form_says_the_same(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    with gzip.open(tmp_path / f"{name}.gz", "wt") as file:
        file.write(content)
    for path in (tmp_path / name, tmp_path / f"{name}.gz"):
        frame = formats.read_clicks(path)
        assert list(frame.itertuples(index=False, name=None)) == COUNTED
        assert frame.dtypes[["rank", "shown", "clicked"]].eq("int64").all()


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("1,a,1,1,2", "no more clicks than impressions, found 2 clicks on 1 impression"),
        ("1,a,0,1,1", "rank as a whole number, 1 or more, found '0'"),
        ("1,a,-3,1,1", "rank as a whole number, 1 or more, found '-3'"),
        ("1,a,1,-1,0", "shown as a whole number, 0 or more, found '-1'"),
        ("1,a,1,1,x", "clicked as a whole number, 0 or more, found 'x'"),
        ("1,a,1,1.5,1", "shown as a whole number, 0 or more, found '1.5'"),
        ("1,a,1,1,nan", "clicked as a whole number"),
        ("1,a,1,99999999999999999,1", "shown as a whole number"),
        ("1,a,1,,0", "shown as a whole number, 0 or more, found none"),
        ("1,a b,1,1,0", "an id without blanks"),
        (",a,1,1,0", "an id without blanks"),
        ("1,a,1,1", "5 columns"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, row: str, said: str) -> None:
    path = tmp_path / "c.csv"
    path.write_text(f"query_id,doc_id,rank,shown,clicked\n1,b,1,1,1\n{row}\n")
    with pytest.raises(FormatError, match=said) as caught:
        formats.read_clicks(path)
    assert caught.value.line == 3
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "an empty file"),
        ("query_id,doc_id,rank,shown,clicked\n", "only a header"),
        ("query_id,doc_id,rank,clicked\n1,a,1,1\n", "no shown in"),
        ("query_id,doc_id,shown,clicked\n1,a,1,1\n", "no rank in"),
        ("query_id,doc_id,rank,shown,clicked,rank\n1,a,1,1,1,1\n", "'rank' twice"),
        ('[{"query_id": 1}]', "entry 1: expected a click log with the columns"),
        ('{"query_id": 1, "doc_id": "a", "rank": 1, "shown": 1}\n', "no clicked in"),
        ('{"query_id": 1, "doc_id": "a", "rank": true, "shown": 1, "clicked": 0}\n', "rank as a whole number"),
    ],
)
def test_a_file_that_is_no_log(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "c").write_text(content)
    with pytest.raises(FormatError, match=said):
        formats.read_clicks(tmp_path / "c")


# --- estimating -------------------------------------------------------------------------------------

counts = st.lists(
    st.tuples(st.sampled_from("abcd"), st.integers(1, 4), st.integers(1, 30), st.integers(0, 30)),
    min_size=1,
    max_size=12,
).map(lambda rows: table(*((d, r, n, min(n, c)) for d, r, n, c in rows)))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_known_truth_is_recovered_and_click_through_is_not(seed: int) -> None:
    log, examination, truth = generated(seed)
    found = clicks.estimate(log)
    assert found.converged
    assert clicks.cautions(found) == []
    # 30 topics x 30 sessions x 50 impressions at each rank: a standard error of some 2% at rank 10.
    assert np.allclose(found.ranks["examination"], examination, rtol=0.1)
    compared = found.documents.merge(truth)
    assert len(compared) == len(found.documents)
    often = compared[compared["shown"] >= 500]
    assert len(often) > 300
    off, off_by_ctr = ((often[name] - often["true"]).abs().mean() for name in ("attractiveness", "ctr"))
    assert off < 0.03
    assert off_by_ctr > 4 * off


def log_likelihood(found: clicks.ClickEstimate, log: pd.DataFrame) -> float:
    """Of the counts whose examination and attractiveness are known."""
    counts = clicks.aggregate(log).merge(found.documents[["query_id", "doc_id", "attractiveness"]])
    counts = counts.merge(found.ranks[["rank", "examination"]]).dropna()
    chance = counts["examination"] * counts["attractiveness"]
    return float((xlogy(counts["clicked"], chance) + xlogy(counts["shown"] - counts["clicked"], 1 - chance)).sum())


def test_the_estimate_is_the_maximum_of_the_likelihood() -> None:
    """The same numbers from a general optimiser that knows nothing of EM."""
    log = table(("a", 1, 90, 40), ("a", 2, 60, 11), ("b", 2, 80, 20), ("b", 3, 70, 9), ("c", 1, 50, 6), ("c", 3, 90, 4))
    found = clicks.estimate(log, smoothing=0, tolerance=1e-10)
    pair, place = log["doc_id"].map({"a": 0, "b": 1, "c": 2}).to_numpy(), log["rank"].to_numpy() - 1
    shown, clicked = log["shown"].to_numpy(), log["clicked"].to_numpy()

    def loss(x: np.ndarray) -> float:
        chance = x[:3][pair] * np.concatenate([[1.0], x[3:]])[place]
        return float(-(clicked * np.log(chance) + (shown - clicked) * np.log(1 - chance)).sum())

    best = minimize(loss, np.full(5, 0.5), bounds=[(1e-6, 1 - 1e-6)] * 5, method="L-BFGS-B", options={"ftol": 1e-14})
    assert found.documents["attractiveness"].to_numpy() == pytest.approx(best.x[:3], abs=1e-4)
    assert found.ranks["examination"].to_numpy()[1:] == pytest.approx(best.x[3:], abs=1e-4)
    assert log_likelihood(found, log) == pytest.approx(-best.fun)


def by_the_book(log: pd.DataFrame, rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """So many rounds of EM as the sources write it, a row for each pair and rank: attractiveness, examination."""
    counts = clicks.aggregate(log)
    pair = counts.groupby(["query_id", "doc_id"], sort=False).ngroup().to_numpy()
    place = counts["rank"].to_numpy() - 1
    shown, clicked = counts["shown"].to_numpy(), counts["clicked"].to_numpy()
    attractiveness, examination = np.full(pair.max() + 1, 0.5), np.full(place.max() + 1, 0.5)
    examination[0] = 1
    for _ in range(rounds):
        a, e = attractiveness[pair], examination[place]
        share = (shown - clicked) / np.maximum(1 - a * e, 1e-300)
        attractiveness = np.bincount(pair, clicked + share * a * (1 - e)) / np.bincount(pair, shown)
        examination = np.bincount(place, clicked + share * e * (1 - a)) / np.bincount(place, shown)
        examination[0] = 1
    return attractiveness, examination


@pytest.mark.parametrize("part", [1.0, 0.15], ids=["at most ranks", "at few ranks"])
@pytest.mark.slow
def test_every_round_is_that_of_the_books(part: float) -> None:
    log = generated(5, topics=8, sessions=20)[0].assign(shown=4, clicked=lambda c: c["clicked"].clip(upper=4))
    log = clicks.aggregate(log).sample(frac=part, random_state=1)
    # Pairs of the same counts, clicked always and never among them, which are gone through together.
    same = [table((f"x{n}", 1, 5, 5), (f"x{n}", 2, 5, 5), (f"y{n}", 3, 5, 0), (f"z{n}", 9, 5, 1)) for n in range(40)]
    log = pd.concat([log, *same])
    for rounds in (1, 7, 200):
        found = clicks.estimate(log, smoothing=0, tolerance=0, most_rounds=rounds)
        attractiveness, examination = by_the_book(log, rounds)
        assert np.allclose(found.documents["attractiveness"], attractiveness, rtol=0, atol=1e-12)
        assert np.allclose(found.ranks["examination"], examination, rtol=0, atol=1e-12)


def test_without_bias_attractiveness_is_click_through() -> None:
    log = table(("a", 1, 100, 30), ("b", 1, 50, 50), ("c", 1, 10, 0))
    found = clicks.estimate(log, smoothing=0)
    assert found.documents["attractiveness"].to_numpy() == pytest.approx([0.3, 1, 0])
    assert clicks.cautions(found) == []


def test_smoothing_is_so_many_impressions_more_at_the_mean_rate() -> None:
    log = table(("a", 1, 2, 2), ("b", 1, 98, 18))  # 20 clicks on 100 impressions
    found = clicks.estimate(log, smoothing=10)
    assert found.documents["attractiveness"].to_numpy() == pytest.approx([(2 + 2) / 12, (18 + 2) / 108])


@pytest.mark.slow
def test_smoothing_leaves_position_bias_as_it_is() -> None:
    """Many pairs with few impressions each: what every pair is given must not add up to another examination."""
    rng = np.random.default_rng(4)
    examination, truth = 1 / np.arange(1, 11) ** 0.8, rng.beta(1, 3, 1500)
    impressions = rng.multinomial(20, np.full(10, 0.1), size=1500)
    pair, place = impressions.nonzero()
    shown = impressions[pair, place]
    clicked = rng.binomial(shown, examination[place] * truth[pair])
    log = pd.DataFrame({"query_id": "1", "doc_id": pair, "rank": place + 1, "shown": shown, "clicked": clicked})
    smoothed, plain = (clicks.estimate(log, smoothing=s) for s in (1, 0))
    assert smoothed.ranks["examination"].tolist() == plain.ranks["examination"].tolist()
    assert np.allclose(smoothed.ranks["examination"], examination, atol=0.08)
    off = [
        found.documents["attractiveness"].to_numpy() - truth[found.documents["doc_id"].astype(int)]
        for found in (smoothed, plain)
    ]
    assert abs(off[0].mean()) < 0.03  # centred where the pairs are
    assert np.abs(off[0]).mean() < np.abs(off[1]).mean()


@pytest.mark.slow
@tries(30)
@given(counts, st.integers(1, 30))
def test_the_likelihood_never_falls(log: pd.DataFrame, rounds: int) -> None:
    if not log["clicked"].sum():
        return
    one = clicks.estimate(log, smoothing=0, most_rounds=rounds, tolerance=0)
    more = clicks.estimate(log, smoothing=0, most_rounds=rounds + 1, tolerance=0)
    assert log_likelihood(more, log) >= log_likelihood(one, log) - 1e-9


@tries(30)
@given(counts, st.floats(0, 5))
@pytest.mark.slow
def test_what_every_estimate_keeps_to(log: pd.DataFrame, smoothing: float) -> None:
    if not log["clicked"].sum():
        return
    found = clicks.estimate(log, smoothing=smoothing, most_rounds=200)
    assert found.documents["shown"].sum() == log["shown"].sum() == found.ranks["shown"].sum()
    assert found.documents["clicked"].sum() == log["clicked"].sum()
    assert (found.documents["by"] == "clicks").all()
    for share in (found.documents["attractiveness"], found.ranks["examination"]):
        assert share.dropna().between(0, 1 + 1e-12).all()
    assert found.ranks.set_index("rank")["examination"][found.first] == 1
    # Who said it and in which order makes no difference, nor whether impressions come one by one.
    shuffled = clicks.estimate(log.sample(frac=1, random_state=1), smoothing=smoothing, most_rounds=200)
    both = found.documents.merge(shuffled.documents, on=["query_id", "doc_id"])
    assert np.allclose(both["attractiveness_x"], both["attractiveness_y"], equal_nan=True, atol=1e-9)


@tries(30)
@given(counts)
@pytest.mark.slow
def test_impressions_one_by_one_are_the_same_as_counts(log: pd.DataFrame) -> None:
    single = log.loc[log.index.repeat(log["shown"])].assign(shown=1)
    single["clicked"] = (single.groupby(level=0).cumcount() < single["clicked"]).astype(int)
    pd.testing.assert_frame_equal(clicks.aggregate(single), clicks.aggregate(log))


def test_documents_seen_at_one_rank_only_cannot_tell_bias() -> None:
    found = clicks.estimate(table(("a", 1, 10, 5), ("b", 2, 10, 5), ("c", 3, 10, 2)))
    assert found.documents["attractiveness"].isna().tolist() == [False, True, True]
    assert found.ranks["examination"].isna().tolist() == [False, True, True]
    said = " ".join(clicks.cautions(found))
    assert "position bias cannot be estimated from these clicks" in said
    assert "2 of 3 pairs" in said
    assert clicks.labels(found)["doc_id"].tolist() == ["a"]


def test_a_document_that_nobody_clicked_links_no_ranks() -> None:
    log = table(("a", 1, 10, 5), ("b", 2, 10, 5), ("z", 1, 10, 0), ("z", 2, 10, 0))
    assert clicks.estimate(log).ranks["examination"].isna().tolist() == [False, True]
    linked = pd.concat([log, table(("b", 1, 10, 8))])
    assert clicks.estimate(linked).ranks["examination"].notna().all()


def test_ranks_are_linked_over_other_ranks_and_other_topics() -> None:
    log = pd.concat([
        table(("a", 1, 1000, 800), ("a", 2, 1000, 400)),
        table(("x", 2, 1000, 200), ("x", 3, 1000, 100), query_id="2"),
        table(("y", 3, 1000, 125), query_id="3"),
    ])  # fmt: skip
    found = clicks.estimate(log, smoothing=0)
    assert found.ranks["examination"].to_numpy() == pytest.approx([1, 0.5, 0.25], abs=1e-3)
    assert found.documents["attractiveness"].to_numpy() == pytest.approx([0.8, 0.4, 0.5], abs=1e-3)


def test_some_ranks_cannot_be_told_and_are_named() -> None:
    log = table(("a", 1, 10, 5), ("a", 2, 10, 3), ("b", 7, 10, 5), ("b", 8, 10, 5), ("c", 4, 10, 0))
    found = clicks.estimate(log)
    said = clicks.cautions(found)
    assert found.ranks.set_index("rank")["examination"].notna().to_dict() == {
        1: True,
        2: True,
        4: False,
        7: False,
        8: False,
    }
    assert [s for s in said if "no clicks at rank 4" in s]
    assert [s for s in said if "examination of ranks 7 and 8 cannot be estimated" in s]


def test_another_first_rank_is_said() -> None:
    found = clicks.estimate(table(("a", 1, 10, 0), ("b", 2, 10, 5), ("b", 3, 10, 2)))
    assert found.first == 2
    assert "no clicks above rank 2" in clicks.cautions(found)[0]


def test_an_end_before_convergence_is_said() -> None:
    log = generated(1, topics=3, sessions=5)[0]
    found = clicks.estimate(log, most_rounds=3)
    assert (found.rounds, found.converged) == (3, False)
    assert "EM did not converge in 3 rounds" in clicks.cautions(found)[-1]


def test_what_cannot_be_estimated() -> None:
    with pytest.raises(InputError, match="found no click"):
        clicks.estimate(table(("a", 1, 10, 0)))
    with pytest.raises(InputError, match="found no impression"):
        clicks.estimate(table(("a", 1, 0, 0)))
    with pytest.raises(InputError, match="no more clicks than impressions, found .*clicked 2"):
        clicks.estimate(table(("a", 1, 1, 2)))
    with pytest.raises(InputError, match="smoothing"):
        clicks.estimate(table(("a", 1, 1, 1)), smoothing=-1)
    with pytest.raises(ColumnsError, match="shown"):
        clicks.estimate(table(("a", 1, 1, 1)).drop(columns="shown"))


# --- in a campaign ----------------------------------------------------------------------------------


LOG = "query_id,doc_id,rank,shown,clicked\n1,d1,1,100,40\n1,d1,2,100,20\n1,d2,2,100,30\n2,d4,1,100,10\n9,dx,1,5,5\n"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "march.csv"
    path.write_text(LOG)
    return path


def everything(campaign: Campaign) -> list[object]:
    """All that a campaign says of people's judgements, as values that can be compared."""
    status = campaign.results.overview.status()
    return [
        campaign.store.judgements.table(current=False).to_csv(),
        campaign.results.qrels.build().to_csv(),
        campaign.results.agreement.labels().to_csv(),
        campaign.store.judgements.annotators().to_csv(),
        campaign.progress.topics().to_csv(),
        campaign.results.agreement.disagreements(),
        campaign.judging.adjudication.queue().to_csv(),
        campaign.results.evaluation.evaluate([parse("nDCG@10"), parse("Judged@10")]).values.to_csv(),
        campaign.store.judgements.counts(),
        status,
    ]


@pytest.mark.slow
def test_clicks_never_reach_what_people_judged(campaign: Campaign, log: Path, tmp_path: Path) -> None:
    (tmp_path / "seen.txt").write_text("1 0 d1 2\n1 0 d2 0\n")
    campaign.imports.import_files(qrels=tmp_path / "seen.txt")
    before = everything(campaign)
    log.write_text(LOG + "1,nobody-has-it,3,10,9\n1,d3,1,10,9\n")  # nor is d3 in the pool
    campaign.imports.import_files(clicks=log)
    assert campaign.corpus.clicks.log()["clicked"].sum() == 118
    campaign.corpus.clicks.export(table=tmp_path / "c.tsv", qrels=tmp_path / "c.qrels")
    assert everything(campaign) == before
    campaign.exports.files.write(
        qrels=tmp_path / "people.qrels", judgements=tmp_path / "log.jsonl", labels=tmp_path / "l.csv"
    )
    assert (tmp_path / "people.qrels").read_text() == "1 0 d1 2\n1 0 d2 0\n"
    assert "click" not in (tmp_path / "log.jsonl").read_text() + (tmp_path / "l.csv").read_text()


def test_click_qrels_cannot_be_imported_as_grades(campaign: Campaign, log: Path, tmp_path: Path) -> None:
    campaign.imports.import_files(clicks=log)
    campaign.corpus.clicks.export(qrels=tmp_path / "c.qrels")
    with pytest.raises(FormatError, match="a grade of this campaign"):
        campaign.imports.import_files(qrels=tmp_path / "c.qrels")


@pytest.mark.slow
def test_import_again_replaces_only_when_told(campaign: Campaign, log: Path, tmp_path: Path) -> None:
    report = campaign.imports.import_files(clicks=log)
    assert report.done == [f"{log}: 100 clicks on 400 impressions of 3 pairs, stored as click log 'march.csv'"]
    assert any("skipped 1 topic that is not in the campaign" in notice for notice in report.notices)
    before = campaign.corpus.clicks.log()
    assert campaign.imports.import_files(clicks=log).done == [
        f"{log}: click log 'march.csv' is already in the campaign"
    ]
    log.write_text(LOG.replace("1,d2,2,100,30", "1,d2,2,100,31"))
    with pytest.raises(ConflictError, match="already has a click log 'march.csv' with other content"):
        campaign.imports.import_files(clicks=log)
    pd.testing.assert_frame_equal(campaign.corpus.clicks.log(), before)
    campaign.imports.import_files(clicks=log, replace=True)
    assert campaign.corpus.clicks.log()["clicked"].sum() == 101
    (tmp_path / "april.csv").write_text(LOG)
    campaign.imports.import_files(clicks=tmp_path / "april.csv")
    assert campaign.corpus.clicks.log()["source"].unique().tolist() == ["april.csv", "march.csv"]
    rows = campaign.corpus.clicks.log()["source"].value_counts()
    assert campaign.store.corpus.click_sources().to_dict("list") == {
        "source": [*sorted(rows.index)],
        "rows": [*rows.sort_index()],
    }
    assert campaign.corpus.clicks.log(["april.csv"])["clicked"].sum() == 100
    assert campaign.corpus.clicks.estimate().documents["clicked"].sum() == 201
    with pytest.raises(UnknownNameError, match="unknown click log 'may.csv'"):
        campaign.corpus.clicks.estimate(["may.csv"])


def test_one_wrong_line_and_nothing_is_imported(campaign: Campaign, log: Path, files: Path) -> None:
    log.write_text(LOG + "1,d1,1,1,2\n")
    (files / "more.jsonl").write_text('{"doc_id": "new", "text": "A text."}\n')
    with pytest.raises(FormatError, match="march.csv, line 7"):
        campaign.imports.import_files(documents=[files / "more.jsonl"], clicks=log)
    assert campaign.corpus.document("new") is None
    assert campaign.corpus.clicks.log().empty
    assert campaign.store.corpus.click_sources().empty


def test_the_exported_table_and_labels(campaign: Campaign, log: Path, tmp_path: Path) -> None:
    campaign.imports.import_files(clicks=log)
    files, found = campaign.corpus.clicks.export(table=tmp_path / "c.tsv", qrels=tmp_path / "c.qrels", smoothing=0)
    assert files == {str(tmp_path / "c.tsv"): 3, str(tmp_path / "c.qrels"): 3}
    back = pd.read_csv(tmp_path / "c.tsv", sep="\t", dtype={"query_id": str})
    assert list(back.columns) == ["query_id", "doc_id", "shown", "clicked", "ctr", "attractiveness", "by"]
    assert back["by"].eq("clicks").all()
    assert back["attractiveness"].to_numpy() == pytest.approx(found.documents["attractiveness"].to_numpy())
    # d1 halves its clicks from rank 1 to 2, so d2 with 30% at rank 2 has some 60%.
    assert back.set_index("doc_id")["attractiveness"].round(2).to_dict() == {"d1": 0.4, "d2": 0.6, "d4": 0.1}
    qrels = formats.read_qrels(tmp_path / "c.qrels")
    assert qrels["relevance"].to_numpy() == pytest.approx(back["attractiveness"].to_numpy(), abs=0)
    said = json.loads((tmp_path / "c.qrels.clicks.json").read_text())
    assert said["by"] == "clicks"
    assert said["sources"] == ["march.csv"]
    assert [row["rank"] for row in said["ranks"]] == [1, 2]
    assert said["converged"] is True


@pytest.mark.slow
def test_in_the_command_line(make_campaign: Callable[..., Campaign], log: Path, files: Path, tmp_path: Path) -> None:
    directory = make_campaign().directory
    assert "100 clicks on 400 impressions" in ok("import", directory, "--clicks", log)
    table_file, qrels = tmp_path / "c.tsv", tmp_path / "c.qrels"
    said = ok(
        "export",
        directory,
        "--clicks",
        table_file,
        "--click-qrels",
        qrels,
        "--click-log",
        "march.csv",
        "--smoothing",
        0,
    )
    assert f"{table_file}: 3 lines" in said
    values = ok("evaluate", qrels, files / "a.run", "-m", "nDCG@10", "--format", "tsv")
    # Topic 1: a.run has d1, d2, d3; gains .4, .6 in the order .6, .4 at best. Topic 2: d4 first.
    ideal, got = 0.6 + 0.4 / np.log2(3), 0.4 + 0.6 / np.log2(3)
    assert float(values.strip().split("\t")[-1]) == pytest.approx((got / ideal + 1) / 2, abs=1e-3)
    assert "unknown click log 'x'" in fails("export", directory, "--clicks", table_file, "--click-log", "x")
    assert "expected a name that ends in .tsv for click estimates" in fails(
        "export", directory, "--clicks", tmp_path / "c.csv"
    )


def test_without_a_log_there_is_nothing_to_export(campaign: Campaign, tmp_path: Path) -> None:
    assert "import DIR --clicks FILE" in fails("export", campaign.directory, "--clicks", tmp_path / "c.tsv")
