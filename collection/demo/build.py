"""Build the demo campaign from real documents, real topics, and systems that run at once."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

import pandas as pd

from collection import layout
from collection.campaign import DATABASE, Campaign
from collection.campaign.results import ImportReport, ProgressCallback
from collection.demo.documents import collect
from collection.demo.systems import SYSTEMS, run_all
from collection.errors import CampaignError
from collection.records import Judgement

TITLE = "Cleverdon demo: Python docstrings"
_INSTALLED = Path(__file__).with_name("data")
_CHECKOUT = Path(__file__).parents[2] / "data" / "demo"
DATA = _INSTALLED if _INSTALLED.is_dir() else _CHECKOUT
"""Topics and judgements: inside an installed package, or in the checkout."""

JUDGEMENT_FIELDS = ("uuid", "annotator", "query_id", "doc_id", "kind", "relevance", "reason", "judged_at", "source")


def is_built(directory: Path) -> bool:
    """Whether there is a campaign in `directory` already."""
    return (directory / DATABASE).is_file()


def build(directory: Path, progress: ProgressCallback | None = None) -> ImportReport:
    """Build the demo campaign in `directory`, which must not exist or be empty.

    It is built beside the directory and moved there when it is complete, so that an interrupted build leaves nothing
    that looks like a campaign.
    """
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise CampaignError(f"{directory} is there already and not an empty folder; choose another name")
    layout.require_output(directory)
    tell = progress or (lambda what, done, total: None)
    directory.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory.parent, prefix=f".{directory.name}-") as scratch:
        work = Path(scratch)
        documents = _write_documents(work / "documents.jsonl", tell)
        topics = DATA / "topics.jsonl"
        runs = _write_runs(work, documents, pd.read_json(topics, lines=True, dtype=False), tell)
        with Campaign.create(work / "campaign", title=TITLE) as campaign:
            report = campaign.importer.import_files(
                documents=[work / "documents.jsonl"], topics=topics, runs=runs, progress=progress
            )
            pool = campaign.pools.add("depth", depth=10)
            report.done.append(
                f"pool: {pool.pairs:,} pairs, the first 10 documents of {pool.runs} systems for each topic"
            )
            _judge(campaign, report)
        if directory.is_dir():
            directory.rmdir()  # raises if it is not empty any more, so no user's file is overwritten
        shutil.move(work / "campaign", directory)
    return ImportReport([_short(line, work) for line in report.done], [_short(line, work) for line in report.notices])


def _short(line: str, work: Path) -> str:
    return line.replace(f"{work}/", "").replace(f"{DATA}/", "")


def _write_documents(path: Path, tell: ProgressCallback) -> pd.DataFrame:
    documents = list(collect(progress=lambda library, done, total: tell(f"docstrings of {library}", done, total)))
    with path.open("w", encoding="utf-8") as file:
        for d in documents:
            row = {"doc_id": d.doc_id, "title": d.title, "text": d.text, **d.metadata}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return pd.DataFrame([d[:3] for d in documents], columns=["doc_id", "title", "text"])


def _write_runs(work: Path, documents: pd.DataFrame, topics: pd.DataFrame, tell: ProgressCallback) -> list[Path]:
    paths = []
    for number, run in enumerate(run_all(documents, topics), start=1):
        paths.append(work / f"{run.name}.run")
        lines = run.frame.assign(q0="Q0", tag=run.name)[["query_id", "q0", "doc_id", "rank", "score", "tag"]]
        lines.to_csv(paths[-1], sep=" ", header=False, index=False)
        tell(f"systems: {run.name}", number, len(SYSTEMS))
    return paths


def _judge(campaign: Campaign, report: ImportReport) -> None:
    """Write the demo's judgements of those documents that this machine has."""
    path = DATA / "judgements.jsonl"
    if not path.is_file():
        return
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    known = campaign.corpus.documents(sorted({row["doc_id"] for row in rows}))
    usable = [Judgement(**{name: row.get(name) for name in JUDGEMENT_FIELDS}) for row in rows if row["doc_id"] in known]
    result = campaign.judging.judge_many(usable)
    annotators = sorted({j.annotator for j in usable})
    topics = {j.query_id for j in usable}
    report.done.append(
        f"judgements.jsonl: {len(result.saved):,} judgements of {len(topics)} topics by {' and '.join(annotators)}"
    )
    if len(usable) < len(rows):
        report.notices.append(
            f"{len(rows) - len(usable):,} judgements are left out: the installed libraries do not have their documents"
        )
    for refused in result.refused:
        report.notices.append(f"a judgement of the demo was refused: {refused.reason}")
