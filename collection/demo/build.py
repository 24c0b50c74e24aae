"""Build the demo campaign: documents of this machine, stored topics, runs and simulated judgements."""

from __future__ import annotations

import gzip
import json
import random
import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from collection.campaign import DATABASE, Campaign
from collection.campaign.log.results import ImportReport, ProgressCallback
from collection.core import layout
from collection.core.errors import CampaignError
from collection.core.phrases import count, join
from collection.core.records import Judgement
from collection.demo.documents import collect

TITLE = "Cleverdon demo: Python docstrings"
_INSTALLED = Path(__file__).with_name("data")
_CHECKOUT = Path(__file__).parents[2] / "data" / "demo"
DATA = _INSTALLED if _INSTALLED.is_dir() else _CHECKOUT
"""Topics, runs and judgements: inside an installed package, or in the checkout."""

CAMPAIGN_ID = "d0c57219de30"
"""The same for every demo, since random draws of the loop depend on it."""

DESCRIPTION = """\
The demo of Cleverdon. Documents are docstrings of installed Python libraries, topics are needs of programmers.

All judgements are simulated: they repeat grades that two language models gave, with a few errors, and random times.
Use them to see the app at work, not to conclude anything about the systems."""

LICENCE = (
    "Docstrings: the licences of Python (PSF-2.0), NumPy, SciPy, pandas, scikit-learn (BSD-3-Clause) and Streamlit "
    "(Apache-2.0)"
)

GUIDELINES = """Imagine that you have the problem of the topic and open this docstring. Judge what the described \
function, class or module does, not how well the docstring is written.

- **3** Perfect: it is dedicated to the problem and solves it. You would use it and stop searching.
- **2** Relevant: it solves the problem in part, or among other things.
- **1** Related: it is about the problem but does not solve it.
- **0** Not relevant: it has nothing to do with the problem, even if it has the same words.

The narrative of a topic takes precedence over these rules."""

SYSTEMS = ("bm25", "bm25-long", "tfidf", "chargrams", "lsi", "title-only", "rocchio", "fusion")
"""Names of the stored runs."""

TOLERATED_MISSING = 20
"""Maximum number of missing documents of the stored runs that need no notice, since they hardly change the demo."""

ANNOTATORS = ("simulated-1", "simulated-2", "simulated-3")

LABEL_SET, SHARE_TOO_HIGH = "simulated-model", 0.3
"""The label set, and the share of its labels that are one grade higher than a language model's grade."""

BY_BOTH = ("2", "3", "4", "5", "6", "8", "9", "10", "11", "12")
"""Topics whose pools the first two annotators judge to the end."""

IN_LOOP: dict[str, int | None] = {"1": 18, "7": None}
"""Topics that the third judges within the pool, and the number of judgements; None: until the advice is to stop."""


def is_built(directory: Path) -> bool:
    """Return whether there is a campaign in `directory` already."""
    return (directory / DATABASE).is_file()


def build(directory: Path, progress: ProgressCallback | None = None) -> ImportReport:
    """Build the demo campaign in `directory`, which must not exist or be empty.

    It is built in a temporary directory and moved when it is complete, so that an interrupted build leaves nothing that
    looks like a campaign.
    """
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise CampaignError(f"{directory} exists and is not an empty directory; choose another name")
    layout.require_output(directory)
    directory.parent.mkdir(parents=True, exist_ok=True)
    report = ImportReport([], [])
    with tempfile.TemporaryDirectory(dir=directory.parent, prefix=f".{directory.name}-") as scratch:
        work = Path(scratch)
        with unjudged(work / "campaign", work, report, progress) as campaign:
            _judge(campaign, report)
            _label(campaign, work, report)
            campaign.settings.set_guidelines(GUIDELINES)
            campaign.settings.set_collection(description=DESCRIPTION, licence=LICENCE)
            campaign.settings.set_tour(True)
        if directory.is_dir():
            directory.rmdir()  # raises if it is not empty any more, so no user's file is overwritten
        shutil.move(work / "campaign", directory)
    return report


@contextmanager
def unjudged(
    directory: Path, work: Path, report: ImportReport | None = None, progress: ProgressCallback | None = None
) -> Iterator[Campaign]:
    """Create the campaign without judgements in `directory`, with temporary files in `work`, and open it."""
    report, tell = report or ImportReport([], []), progress or (lambda what, done, total: None)
    known = _write_documents(work / "documents.jsonl", tell)
    runs, missing = _write_runs(work, known)
    with Campaign.create(directory, title=TITLE) as campaign:
        campaign.store.settings.put("id", CAMPAIGN_ID)
    with Campaign(directory) as campaign:
        with campaign.transaction():
            imported = campaign.imports.import_files(
                documents=[work / "documents.jsonl"], topics=DATA / "topics.jsonl", runs=runs, progress=progress
            )
            pool = campaign.people.pools.add("depth", depth=10)
            for annotator in ANNOTATORS:
                campaign.people.accounts.add(annotator, "annotator")
            campaign.people.assignments.update(annotators=2, which="topics", topics=BY_BOTH)
            campaign.settings.set_loop(target=0.8, run=4, control=0.25)
            campaign.settings.set_loop(topics=list(IN_LOOP), mode="loop-in-pool")
        report.done.extend(line.replace(f"{work}/", "").replace(f"{DATA}/", "") for line in imported.done)
        report.notices.extend(line.replace(f"{work}/", "") for line in imported.notices)
        report.done.append(
            f"pool: {count(pool.pairs, 'pair')}, the first 10 documents of {pool.runs} systems per topic"
        )
        if missing > TOLERATED_MISSING:
            report.notices.append(
                f"the installed libraries lack {count(missing, 'document')} of the stored runs, which are left out"
            )
        yield campaign


def _write_documents(path: Path, tell: ProgressCallback) -> set[str]:
    """Write this machine's documents to a file, and return their ids."""
    documents = list(collect(progress=lambda library, done, total: tell(f"docstrings of {library}", done, total)))
    with path.open("w", encoding="utf-8") as file:
        for d in documents:
            row = {"doc_id": d.doc_id, "title": d.title, "text": d.text, **d.metadata}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return {d.doc_id for d in documents}


def _write_runs(work: Path, known: Collection[str]) -> tuple[list[Path], int]:
    """Write the stored runs without unknown documents, and return their files and the number of these documents."""
    paths, missing = [], set()
    for name in SYSTEMS:
        lines = gzip.decompress((DATA / "runs" / f"{name}.run.gz").read_bytes()).decode().splitlines(True)
        paths.append(work / f"{name}.run")
        paths[-1].write_text("".join(line for line in lines if line.split()[2] in known), encoding="utf-8")
        missing |= {line.split()[2] for line in lines} - set(known)
    return paths, len(missing)


def _judge(campaign: Campaign, report: ImportReport) -> None:
    """Write the stored judgements on the documents that this machine has."""
    rows = [json.loads(line) for line in (DATA / "simulated.jsonl").read_text(encoding="utf-8").splitlines()]
    written = []
    with campaign.transaction():
        for row in rows:
            judgement = Judgement(**row)
            pair = campaign.store.judgements.pair(judgement.query_id, judgement.doc_id, judgement.annotator)
            if pair is not None:
                # Past `campaign.judging`, which would note how the pair is selected now, not when the loop chose it.
                campaign.store.judgements.append(judgement, pair)
                written.append(judgement)
    names = join(sorted({j.annotator for j in written}))
    topics = len({j.query_id for j in written})
    report.done.append(f"simulated.jsonl: {count(len(written), 'judgement')} of {count(topics, 'topic')} by {names}")
    if missing := len(rows) - len(written):
        report.notices.append(
            f"the installed libraries lack the documents of {count(missing, 'judgement')}, which are left out"
        )


def _label(campaign: Campaign, work: Path, report: ImportReport) -> None:
    """Import simulated machine labels of the pooled pairs: the grades of a model, many of them one grade higher."""
    pooled = set(campaign.store.pool.ids().itertuples(index=False, name=None))
    rows = [json.loads(line) for line in (DATA / "judgements.jsonl").read_text(encoding="utf-8").splitlines()]
    chance, lines = random.Random(LABEL_SET), []
    for row in rows:
        label = min(row["relevance"] + (chance.random() < SHARE_TOO_HIGH), 3)
        if row["annotator"] == "model-b" and (row["query_id"], row["doc_id"]) in pooled:
            lines.append(f"{row['query_id']} 0 {row['doc_id']} {label}\n")
    path = work / f"{LABEL_SET}.txt"
    path.write_text("".join(lines), encoding="utf-8")
    imported = campaign.imports.import_files(machine_labels=path)
    report.done.extend(line.replace(f"{work}/", "") for line in imported.done)
