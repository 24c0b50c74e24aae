"""The card of a collection in Markdown, from the same data as ``collection.json``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from collection.characters import escaped_markdown, is_web_address, markdown_code, sanitised_markdown
from collection.export.facts import Facts
from collection.stopping.table import missing_texts

FEW = 25
"""Maximum number of topics with a row in the card; ``collection.json`` has all of them."""

MADE_OF = {
    "choices": "Nobody gave these grades: a document has one because annotators chose it from a list. What they were "
    "shown and did not choose is unjudged.",
    "preferences": "Nobody gave these grades: they are made of preferences between two documents. They say which "
    "documents of a topic are better, and not whether any of them is good; what the scale says of a grade does not "
    "hold, nor does what is counted as relevant.",
}
"""Meaning of grades that are not made of judgements."""


def card(facts: Facts) -> str:
    """The card in Markdown; `facts` as :meth:`.CollectionCard.facts` makes them."""
    sections = [_head, _use, _material, _grades, _judging, _agreement, _pool, _recall, _files, _guidelines]
    return "\n\n".join(block for section in sections for block in section(facts)) + "\n"


def _head(facts: Facts) -> Iterator[str]:
    yield f"# {_cell(facts['title'])}"
    yield from filter(None, map(escaped_markdown, re.split(r"\n\s*\n", facts["description"] or "")))
    lines = [
        f"- Name: {markdown_code(facts['name'])}",
        f"- Licence: {escaped_markdown(facts['licence'] or 'none is stated')}",
    ]
    if facts["citation"]:
        lines.append(f"- Citation: {escaped_markdown(facts['citation'])}")
    if url := facts["url"]:
        lines.append(f"- Address: {f'<{url}>' if is_web_address(url) else escaped_markdown(url)}")
    yield "\n".join([*lines, f"- Made {facts['made_at'][:10]} with Cleverdon {facts['cleverdon']}"])


def _use(facts: Facts) -> Iterator[str]:
    yield "## How it is read"
    without = "The documents are not in it; ids are those of the corpus that they come from.\n"
    yield (
        f"{without if facts['documents']['corpus'] == 'none' else ''}"
        "`corpus.jsonl`, `queries.jsonl` and `qrels/test.tsv` are laid out as BEIR has them.\n"
        "`qrels.txt` has the same grades in TREC's form. `load.py` registers all with ir_datasets:"
    )
    yield (
        "```python\n"
        "import runpy, ir_datasets\n"
        'runpy.run_path("DIRECTORY/load.py")\n'
        f'dataset = ir_datasets.load("{facts["name"]}")\n'
        "```"
    )
    yield "`sha256sum --check checksums.txt` says whether every file is as it was written."


def _material(facts: Facts) -> Iterator[str]:
    qrels, documents = facts["qrels"], facts["documents"]
    yield "## What is in it"
    made_of = {"judgements": "graded", "choices": "chosen from lists", "preferences": "graded by preferences"}
    yield _table(
        ("content", "count"),
        [
            ("documents with a text", documents["with_text"]),
            (f"documents in corpus.jsonl ({documents['corpus']})", documents["exported"]),
            ("topics", facts["topics"]["count"]),
            ("topics with a grade", qrels["topics"]),
            (f"pairs {made_of[qrels['made_of']]}", qrels["pairs"]),
            (f"relevant (grade {qrels['relevant_from']} or higher)", qrels["relevant"]),
            ("documents in the qrels", qrels["documents"]),
            ("those of them without a text here", documents["judged_without_text"]),
        ],
    )
    if without_grade := facts["topics"]["count"] - qrels["topics"]:
        yield f"Topics without a grade: {without_grade:,}. They are in none of the qrels files."
    spreads = [("pairs", qrels["judged_per_topic"]), ("relevant", qrels["relevant_per_topic"])]
    yield _table(
        ("per topic with a grade", "fewest", "median", "mean", "most"),
        [(what, s["min"], s["median"], s["mean"], s["max"]) for what, s in spreads if s],
    )
    if without := qrels["without_relevant"]:
        yield f"Without any relevant document: {_named(without)}."
    yield f"The text in `queries.jsonl` is the topic's {facts['topics']['query_text'].replace('-', ' and ')}."


def _grades(facts: Facts) -> Iterator[str]:
    yield "## Grades"
    counts, rule = facts["qrels"]["per_grade"], facts["rule"]
    yield _table(
        ("grade", "pairs", "means"),
        [(grade, counts[grade], sentence) for grade, sentence in facts["grades"].items()],
    )
    if (made_of := facts["qrels"]["made_of"]) in MADE_OF:
        yield MADE_OF[made_of]
    if rule is not None:
        name, description = markdown_code(rule["rule"]), escaped_markdown(rule["description"])
        yield f"Rule by which several annotators' grades became one: {name}. \n{description}"
        yield _table(("how a grade came about", "pairs"), list(rule["by"].items()))


def _judging(facts: Facts) -> Iterator[str]:
    judging = facts["judging"]
    if not judging["logged"]:
        return
    yield "## Who judged"
    counts = ("judgements", "adjudications", "median_seconds")
    yield _table(
        ("annotator", "judgements", "adjudications", "median seconds"),
        [
            (f"{p['annotator']} (imported)" if p["imported"] else p["annotator"], *(p[name] for name in counts))
            for p in judging["annotators"]
        ],
    )
    sentences = [f'{judging["cannot_judge"]:,} judgements say "cannot judge".'] if judging["cannot_judge"] else []
    if judging["timed"]:
        sentences.append(f"{judging['timed']:,} entries of the log have a time: {judging['hours']:.1f} hours of work.")
    if judging["first_at"]:
        first, last = judging["first_at"][:10], judging["last_at"][:10]
        sentences.append(f"Judged on {first} (UTC)." if first == last else f"Judged from {first} to {last} (UTC).")
    yield " ".join(sentences)
    if decisions := [f"{count:,} {what}" for what, count in facts["decisions"].items() if count]:
        yield f"Beside grades: {', '.join(decisions)}."


def _agreement(facts: Facts) -> Iterator[str]:
    found = facts["agreement"]
    if found is None:
        return
    yield "## Agreement"
    yield (
        f"{found['several']:,} of {found['pairs']:,} pairs were graded by two annotators or more. Intervals are 95%, "
        f"from {found['resamples']:,} bootstrap samples of {found['by']} (seed {found['seed']}). "
        f"Binary: relevant from grade {found['level']:g} on."
    )
    yield _table(
        ("grades", "coefficient", "value", "low", "high", "note"),
        [
            (v["scale"], v["label"], *(_digits(v[n]) for n in ("value", "low", "high")), v["note"])
            for v in found["values"]
        ],
    )
    yield from map(escaped_markdown, found["notes"])


def _pool(facts: Facts) -> Iterator[str]:
    pool = facts["pool"]
    if not pool["pairs"]:
        return
    yield "## How the pairs were chosen"
    sentences = [f"The pool has {pool['pairs']:,} pairs, of which {pool['judged']:,} have a grade."]
    if missing := pool["without_text"]:
        others, has, counts = ("other", "has", "it counts") if missing == 1 else ("others", "have", "they count")
        sentences.append(f"{missing:,} {others} {has} no text and cannot be judged; {counts} as unjudged.")
    if pool["outside"]:
        sentences.append(f"{pool['outside']:,} pairs with a grade are not in the pool.")
    if pool["sampled_out"]:
        sentences.append(f"{pool['sampled_out']:,} pairs that a sample was drawn from were left out at random.")
    yield " ".join(sentences)
    rounds = []
    for number, each in enumerate(pool["rounds"], start=1):
        parameters = ", ".join(f"{k}={v}" for k, v in each["parameters"].items())
        rounds.append((number, each["strategy"], parameters, len(each["runs"]), each["pairs"]))
    yield _table(("round", "strategy", "parameters", "runs", "pairs added"), rounds)
    yield f"Runs of the campaign: {_named([run['run'] for run in facts['runs']]) or 'none'}."


def _recall(facts: Facts) -> Iterator[str]:
    found = facts["recall"]
    if not found["topics"]:
        return
    yield "## How much of what is relevant was found"
    pooled = sum(row["of"] == "pool" for row in found["per_topic"])
    between = f"{found['low']:,} to {found['high']:,}" if found["low"] < found["high"] else f"{found['low']:,}"
    lines = [
        f"In {found['topics']:,} topics {found['found']:,} relevant documents were found, of an estimated {between} "
        "(the sums of the topics' intervals)."
    ]
    if pooled:
        which = "They are" if pooled == found["topics"] else f"In {pooled:,} topics they are"
        lines.append(f"{which} those of the pool: what no system retrieved is not in these numbers.")
    if missing := missing_texts(row["without_text"] for row in found["per_topic"]):
        lines.append(f"{missing} Any of them may be relevant, and the intervals allow for that.")
    yield "\n".join(lines)
    rows = sorted(found["per_topic"], key=lambda row: (row["recall_low"] is None, row["recall_low"] or 0.0))
    names = ("query_id", "of", "judged", "found", "without_text")
    yield _table(
        ("topic", "of", "judged", "found", "no text", "relevant", "recall from", "to"),
        [
            (
                *(r[name] for name in names),
                r["low"] if r["low"] == r["high"] else f"{r['low']:,} to {r['high']:,}",
                _digits(r["recall_low"]),
                _digits(r["recall_high"]),
            )
            for r in rows[:FEW]
        ],
    )
    if len(rows) > FEW:
        yield f"The {FEW} topics with the lowest bounds; `collection.json` has all {len(rows):,}."


def _files(facts: Facts) -> Iterator[str]:
    if facts["files"]:
        yield "## Files"
        rows = [(file["path"], file["bytes"], file["sha256"]) for file in facts["files"]]
        yield _table(("file", "bytes", "SHA-256"), rows)


def _guidelines(facts: Facts) -> Iterator[str]:
    if facts["guidelines"]:
        yield "## Guidelines that annotators had"
        yield "\n".join(f"> {line}".rstrip() for line in sanitised_markdown(facts["guidelines"]).splitlines())


def _table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [header, *(map(_cell, row) for row in rows)]
    first, *rest = (f"| {' | '.join(line)} |" for line in lines)
    return "\n".join([first, "|" + "---|" * len(header), *rest])


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.1f}"
    return escaped_markdown(str(value))


def _digits(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _named(names: Sequence[str], most: int = 50) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(map(_cell, names[:most])) + more
