"""What the connections of a process keep of a campaign equals what a process finds that has read nothing yet."""

import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import pandas as pd
import pytest

from collection import comparison, reusability, store
from collection.annotator_agreement import Labels
from collection.campaign import Campaign
from collection.campaign.operations import backup_archive
from collection.core.errors import CleverdonError
from collection.store import columns, log_arrays
from tests.helpers import cases, fill

DOCS = [f"d{number}" for number in range(8)]
PEOPLE = ("ann", "ben", "cat")


def result_or_error(compute: Callable[[], object]) -> object:
    try:
        return compute()
    except CleverdonError as error:
        return str(error)


def evaluate(campaign: Campaign) -> object:
    """Values of the runs, and what leaving each one out changes: by keys of documents as by their ids."""
    evaluation, qrels = campaign.results.evaluation, campaign.results.qrels.build()
    found = evaluation.evaluate(["AP", "nDCG@2"]), evaluation.reusability("AP")
    named = (
        comparison.evaluate(campaign.corpus.runs(), qrels, ["AP", "nDCG@2"], strangers=True, grades=range(4)),
        reusability.assess(campaign.corpus.runs(), qrels, "AP", grades=range(4)),
    )
    values = [(e.values, e.unjudged, e.notes, r.left_out, r.curves, r.verdict) for e, r in (found, named)]
    compare(*values)
    return values[0]


def count_needed_pairs(campaign: Campaign) -> object:
    """The work that imported qrels leave to people, as the database counts it."""
    needed = campaign.store.pool.needed_beside_qrels()
    assert (
        needed
        == campaign.store.connection.execute(
            """
        WITH given AS (
            SELECT topic, doc, count(*) AS qrels FROM current_judgements
            WHERE counts_as = 'judgement' AND annotator GLOB 'qrels:*' GROUP BY topic, doc
        )
        SELECT t.query_id, max(p.wanted - coalesce(g.qrels, 0)), sum(p.wanted > 1 AND g.qrels IS NOT NULL)
        FROM pool AS p JOIN topics AS t USING (topic) LEFT JOIN given AS g USING (topic, doc)
        GROUP BY p.topic ORDER BY p.topic
        """
        ).fetchall()
    )
    pool = campaign.store.pool.ids()
    assert campaign.store.pool.are_pooled(pool).all()
    assert not campaign.store.pool.are_pooled(pool.assign(doc_id="outside")).any()
    return needed


def describe(labels: Labels) -> object:
    times = labels.finished_at.astype("datetime64[us, UTC]").to_frame()
    return labels.annotators, labels.pairs, labels.codes.tolist(), labels.grades.tolist(), times


def find_some_agreement(campaign: Campaign) -> object:
    """Agreement in one topic without the first annotator there, and its matrix: by keys and by names alike."""
    study, named = campaign.results.agreement, campaign.results.agreement.labels(topics=["1"])
    if named.empty:
        return None
    without = [named["annotator"].min()]
    labels = study.matrix(topics=["1"], without=without)
    compare(describe(labels), describe(Labels.of(study.labels(topics=["1"], without=without), study.scale)))
    report = study.report(topics=["1"], without=without, resamples=5)
    return report.values, report.rest, report.notes


READS: dict[str, Callable[[Campaign], object]] = {
    "log": lambda c: c.store.judgements.table(current=False),
    "current judgements": lambda c: c.store.judgements.table(),
    "pairs of several": lambda c: c.store.judgements.table(several=True),
    "flagged": lambda c: c.log.flagged(),
    "adjudications": lambda c: c.log.adjudications(),
    "first judgements": lambda c: c.store.judgements.current_judgements(),
    "first judgements of topics": lambda c: c.store.judgements.current_judgements(["2"]),
    "pool": lambda c: c.store.pool.pairs(),
    "qrels": lambda c: c.results.qrels.with_sources().grades,
    "qrels of a topic": lambda c: c.results.qrels.build("highest", topics=["2"]),
    "graded topics": lambda c: c.results.qrels.graded_topics(),
    "forms of qrels": lambda c: c.results.qrels.forms(),
    "runs": lambda c: [(run.topics, run.docs.tolist(), run.listed.tolist()) for run in c.corpus.coded_runs()],
    "evaluation": lambda c: result_or_error(lambda: evaluate(c)),
    "needed": count_needed_pairs,
    "pooled": lambda c: c.people.pools.add("depth", dry_run=True).per_topic,
    "progress": lambda c: c.progress.topics(),
    "status": lambda c: c.results.overview.status(),
    "recall": lambda c: c.recall.table(),
    "ready": lambda c: c.recall.ready_topics(),
    "agreement": lambda c: c.results.agreement.report(resamples=0).values,
    "agreement of some": find_some_agreement,
    "matrix": lambda c: describe(c.results.agreement.matrix()),
    "codes of the log": lambda c: c.store.judgements.coded(["topic", "doc", "at", "flagged"], current=False),
    "annotators": lambda c: c.results.agreement.annotator_statistics(),
    "queue": lambda c: c.judging.adjudication.queue(ended=True),
}


@contextmanager
def in_another_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Inside, connections share what a process shares that has read nothing yet."""
    with monkeypatch.context() as patch:
        for module, name in ((log_arrays, "_shared"), (columns, "_shared_names"), (store, "_shared_cache")):
            patch.setattr(module, name, lru_cache(getattr(module, name).__wrapped__))
        yield


def build(folder: Path) -> Campaign:
    campaign = Campaign.create(folder / "campaign")
    fill(campaign, ["1", "2"], DOCS)
    for name in PEOPLE:
        campaign.people.accounts.add(name, "manager")
    campaign.settings.set_loop(mode="pool-then-loop")
    campaign.people.assignments.update(annotators=2)
    return campaign


def decide(campaign: Campaign, rng: random.Random) -> None:
    """A judgement, a revision of one, an undo, or an adjudication; refused where there is nothing to change."""
    choice = rng.random()
    adjudicate, undo = choice < 0.2, 0.2 < choice < 0.4
    grade = None if undo or choice > 0.9 else rng.randrange(3)
    reason = None if undo or grade is not None else "topic is unclear"
    campaign.judging.judge(
        rng.choice(PEOPLE), rng.choice("12"), rng.choice(DOCS), grade, cannot_judge=reason, undo=undo,
        adjudicate=adjudicate, flagged=rng.random() < 0.2, note=rng.choice([None, "why"]),
    )  # fmt: skip


def import_grades(campaign: Campaign, rng: random.Random) -> None:
    """Qrels, of which one names a new document."""
    file = campaign.directory.parent / f"q{uuid4()}.qrels"
    new = [rng.choice(DOCS), f"e{rng.randrange(100)}"]
    file.write_text("".join(f"{rng.choice('12')} 0 {doc_id} {rng.randrange(3)}\n" for doc_id in new))
    campaign.imports.import_files(qrels=file)


def import_run(campaign: Campaign, rng: random.Random) -> None:
    """A run with equal scores, of which one document is unknown until grades name it; or another one of its name."""
    name = rng.choice(["system", "other"])
    file = campaign.directory.parent / f"{uuid4()}.run"
    docs = rng.sample([*DOCS, f"e{rng.randrange(100)}"], 5)
    lines = [f"{topic} Q0 {doc_id} 0 {rng.randrange(3)} {name}\n" for topic in "12" for doc_id in docs]
    file.write_text("".join(lines))
    campaign.imports.import_files(runs=[file], replace=True)


def add_to_pool(campaign: Campaign, rng: random.Random) -> None:
    """Add a depth pool or a random sample of one."""
    parameters: dict[str, float] = {"rate": 0.7} if rng.random() < 0.5 else {}
    campaign.people.pools.add("uniform" if parameters else "depth", depth=rng.randrange(1, 6), **parameters)


def roll_back(campaign: Campaign, rng: random.Random) -> None:
    with campaign.transaction():
        for change in (decide, import_grades, add_to_pool):
            change(campaign, rng)
            READS[rng.choice(list(READS))](campaign)
        raise CleverdonError("undone")


def compare(kept: Any, fresh: object) -> None:
    if isinstance(fresh, pd.DataFrame):
        pd.testing.assert_frame_equal(kept, fresh)
    elif isinstance(fresh, tuple):
        assert len(kept) == len(fresh)
        for each, other in zip(kept, fresh, strict=True):
            compare(each, other)
    else:
        assert kept == fresh


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(cases(2, 60)))
@pytest.mark.long
def test_every_number_is_that_of_a_fresh_process(
    seed: int, copy_of: Callable[..., Campaign], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, campaign = random.Random(seed), copy_of(build)
    directory, backup = campaign.directory, tmp_path / "backup.zip"
    for _ in range(12):
        match rng.choice(["here", "here", "elsewhere", "import", "undone", "save", "restore"]):
            case "restore" if backup.exists():
                campaign.close()
                shutil.rmtree(directory)
                backup_archive.restore(backup, directory)
                campaign = Campaign(directory)
            case "save" | "restore":
                backup.unlink(missing_ok=True)
                backup_archive.write(directory, backup)
            case where:
                imports = rng.choice([import_grades, import_run, add_to_pool])
                changes = {"import": imports, "undone": roll_back}
                for _ in range(rng.randrange(1, 4)):
                    try:
                        if where == "elsewhere":
                            with in_another_process(monkeypatch), Campaign(directory) as other:
                                decide(other, rng)
                        else:
                            changes.get(where, decide)(campaign, rng)
                    except CleverdonError:
                        continue
        for name in rng.sample(list(READS), 3):
            with in_another_process(monkeypatch), Campaign(directory) as other:
                fresh = READS[name](other)
            compare(READS[name](campaign), fresh)
            with Campaign(directory) as another:
                compare(READS[name](another), fresh)
        log = log_arrays.shared(campaign.store.connection).read(campaign.store.connection, [])
        known = "SELECT judgement FROM current_judgements ORDER BY judgement"  # kept by the database
        current = log["id"].to_numpy()[log["current"].to_numpy(zero_copy_only=False)]
        assert current.tolist() == campaign.store.connection.column(known)
    campaign.close()


def test_forms_of_qrels_follow_the_pool(
    copy_of: Callable[..., Campaign], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = copy_of(build)
    backup_archive.write(campaign.directory, tmp_path / "backup.zip")
    forms, sampled = campaign.results.qrels.forms, ["judged", "strata", "probabilities"]
    assert forms() == ["judged"]
    import_run(campaign, random.Random(3))  # with documents that are not in the pool yet
    with pytest.raises(CleverdonError, match="undone"), campaign.transaction():
        campaign.people.pools.add("uniform", depth=5, rate=1)
        assert forms() == sampled
        raise CleverdonError("undone")
    assert forms() == ["judged"]
    with in_another_process(monkeypatch), Campaign(campaign.directory) as other:
        other.people.pools.add("uniform", depth=5, rate=1)
    assert forms() == sampled
    campaign.close()
    shutil.rmtree(campaign.directory)
    backup_archive.restore(tmp_path / "backup.zip", campaign.directory)
    with Campaign(campaign.directory) as restored:
        assert restored.results.qrels.forms() == ["judged"]
