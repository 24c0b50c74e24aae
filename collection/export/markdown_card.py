"""The card of a collection in Markdown, from the same data as ``collection.json``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence

from collection.core.characters import escaped_markdown, is_web_address, markdown_code, sanitised_markdown
from collection.core.phrases import count, duration, join, join_first, percent_down, plural
from collection.core.questions import describe_bounds, read_question
from collection.export.facts import CardFacts, selection_caution
from collection.stopping.table import missing_texts

FEW = 25
"""Maximum number of topics with a row in the card; ``collection.json`` has all of them."""

LONGEST_SETTING = 300
"""Characters of a setting of machine labels in the card; ``collection.json`` has all."""

MADE_OF = {
    "choices": "These grades come from lists: annotators chose the documents that have a grade. Documents that were "
    "shown but not chosen are unjudged.",
    "preferences": "These grades are derived from preferences between two documents. They order the documents of a "
    "topic but do not tell whether any of them is relevant: the meanings of the grades and the counts of relevant "
    "documents do not apply.",
}
"""Meaning of grades that do not come from graded judgements."""


def card(facts: CardFacts) -> str:
    """Write the card in Markdown; `facts` are those of :meth:`.CollectionCard.facts`."""
    sections = [
        _head,
        _use,
        _material,
        _grades,
        _questions,
        _machine_labels,
        _answers,
        _judging,
        _agreement,
        _pool,
        _recall,
        _across_topics,
        _files,
        _guidelines,
    ]
    return "\n\n".join(block for section in sections for block in section(facts)) + "\n"


def _head(facts: CardFacts) -> Iterator[str]:
    yield f"# {_cell(facts['title'])}"
    yield from filter(None, map(escaped_markdown, re.split(r"\n\s*\n", facts["description"] or "")))
    lines = [
        f"- Name: {markdown_code(facts['name'])}",
        f"- Licence: {escaped_markdown(facts['licence'] or 'not stated')}",
    ]
    if facts["citation"]:
        lines.append(f"- Citation: {escaped_markdown(facts['citation'])}")
    if url := facts["url"]:
        lines.append(f"- URL: {f'<{url}>' if is_web_address(url) else escaped_markdown(url)}")
    yield "\n".join([*lines, f"- Made {facts['made_at'][:10]} with Cleverdon {facts['cleverdon']}"])


def _use(facts: CardFacts) -> Iterator[str]:
    yield "## Loading"
    without = "The documents are not included; their ids are those of the original corpus.\n"
    yield (
        f"{without if facts['documents']['corpus'] == 'none' else ''}"
        "`corpus.jsonl`, `queries.jsonl` and `qrels/test.tsv` have the layout of BEIR.\n"
        "`qrels.txt` has the same grades in TREC format.\n"
        "`load.py` registers the collection with ir_datasets; DIRECTORY is the path of this directory:"
    )
    yield (
        "```python\n"
        "import runpy, ir_datasets\n"
        'runpy.run_path("DIRECTORY/load.py")\n'
        f'dataset = ir_datasets.load("{facts["name"]}")\n'
        "```"
    )
    yield "`sha256sum --check checksums.txt` verifies that no file has changed."


def _material(facts: CardFacts) -> Iterator[str]:
    qrels, documents = facts["qrels"], facts["documents"]
    yield "## Contents"
    source = {"judgements": "graded", "choices": "chosen from lists", "preferences": "graded by preferences"}
    yield _table(
        ("content", "count"),
        [
            ("documents with a text", documents["with_text"]),
            (f"documents in corpus.jsonl ({documents['corpus']})", documents["exported"]),
            ("topics", facts["topics"]["count"]),
            ("topics with a grade", qrels["topics"]),
            (f"pairs {source[qrels['made_of']]}", qrels["pairs"]),
            (f"relevant pairs (grade {qrels['relevant_from']} or higher)", qrels["relevant"]),
            ("documents in the qrels", qrels["documents"]),
            ("documents in the qrels without a text", documents["judged_without_text"]),
        ],
    )
    if left_out := qrels.get("topics_left_out", 0):
        yield f"{count(left_out, 'topic')} with grades {plural(left_out, 'was', 'were')} left out of the qrels."
    if without_grade := facts["topics"]["count"] - qrels["topics"] - left_out:
        has, is_ = plural(without_grade, "has", "have"), plural(without_grade, "is", "are")
        yield f"{count(without_grade, 'topic')} {has} no grade and {is_} not in the qrels."
    spreads = [("pairs", qrels["judged_per_topic"]), ("relevant pairs", qrels["relevant_per_topic"])]
    yield _table(
        ("per topic with a grade", "minimum", "median", "mean", "maximum"),
        [(what, s["min"], s["median"], s["mean"], s["max"]) for what, s in spreads if s],
    )
    if without := qrels["without_relevant"]:
        yield f"Topics without a relevant document: {_named(without)}."
    wanted, missing = facts["topics"]["query_text"].replace("-", " and "), facts["topics"].get("query_text_missing", 0)
    instead = f"; for {count(missing, 'topic')} without it, the first of title, description and narrative that is there"
    yield f"The text in `queries.jsonl` is the topic's {wanted}{instead if missing else ''}."
    if others := facts["topics"].get("other_fields"):
        yield f"Topics have other fields in `topics.jsonl`: {_named(others)}."


def _answers(facts: CardFacts) -> Iterator[str]:
    about = facts.get("answers")
    if not about:
        return
    yield "## Generated answers"
    yield _table(("content", "count"), [(name.replace("_", " "), number) for name, number in about["counts"].items()])
    yield _table(
        ("task", "pairs judged", "judgements", "annotators", "alpha", "kappa"),
        [
            (task["label"], task["pairs"], task["judgements"], task["annotators"], *map(_value, task["agreement"]))
            for task in about["tasks"]
        ],
    )
    if about["scores"]:
        names = list(dict.fromkeys(row["measure"] for row in about["scores"]))
        values = {(row["run"], row["measure"]): row["value"] for row in about["scores"]}
        runs = dict.fromkeys(row["run"] for row in about["scores"])
        yield _table(("run", *names), [(run, *(_value(values[run, name]) for name in names)) for run in runs])
    yield (
        "`answers.jsonl` has the answers in the format of TREC RAG 2026, `nuggets.jsonl` and\n"
        "`nugget_assignments.jsonl` the nuggets and adjudicated nugget assignments in the format of nuggetizer,\n"
        "`support.jsonl` the adjudicated support in the format of NIST. The logs have every edit and every judgement.\n"
        "`cleverdon import CAMPAIGN --collection DIRECTORY` reads all of them into a new campaign."
    )


def _value(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _grades(facts: CardFacts) -> Iterator[str]:
    yield "## Grades"
    counts, rule = facts["qrels"]["per_grade"], facts["rule"]
    yield _table(
        ("grade", "pairs", "meaning"),
        [(grade, counts[grade], sentence) for grade, sentence in facts["grades"].items()],
    )
    if (source := facts["qrels"]["made_of"]) in MADE_OF:
        yield MADE_OF[source]
    if caution := selection_caution(facts["qrels"].get("decisive_pairs", 0)):
        yield f"{caution}."
    if rule is not None:
        name, description = markdown_code(rule["rule"]), escaped_markdown(rule["description"])
        yield f"Adjudication rule: {name}. \n{description}"
        yield _table(("how the grade was decided", "pairs"), list(rule["by"].items()))


def _questions(facts: CardFacts) -> Iterator[str]:
    questions = facts.get("questions")
    if not questions:
        return
    yield "## Questions"
    yield (
        "Annotators answered these further questions. `judgements.jsonl` has the answers of each annotator, "
        "`questions.json` the questions."
    )
    for facts_of in questions:
        question = read_question(facts_of["question"])
        yield f"### {_cell(question.name)}"
        file = f" Its qrels are in {markdown_code(facts_of['file'])}." if "file" in facts_of else ""
        optional = "" if question.required else " It is optional."
        yield (
            f"{escaped_markdown(question.sentence)} Asked at {describe_bounds(question)}.{optional} "
            f"{count(facts_of['pairs'], 'pair')} {plural(facts_of['pairs'], 'has', 'have')} an answer by the "
            f"adjudication rule; other pairs were not asked or not answered.{file}"
        )
        sentences = {str(answer): sentence for answer, sentence in question.answers.items()}
        rows = [(answer, number, sentences.get(answer, "")) for answer, number in facts_of["per_answer"].items()]
        yield _table(("grade" if question.kind == "grades" else "answer", "pairs", "meaning"), rows)
        agreement = facts_of["agreement"]
        if agreement["value"] is not None:
            of = "mean over the tags" if question.kind == "tags" else agreement["coefficient"].removeprefix("alpha-")
            several = f"{count(agreement['several'], 'pair')} with 2 or more answers"
            yield f"Krippendorff's alpha ({of}): {_digits(agreement['value'])}, from {several}."


def _machine_labels(facts: CardFacts) -> Iterator[str]:
    labels = facts.get("machine_labels")
    if labels is None:
        return
    name, pairs = labels["label_set"], labels["pairs"]
    labelled, total = pairs[name], sum(pairs.values())
    yield "## Machine labels"
    yield (
        f"{labelled:,} of {count(total, 'pair')} in the qrels {plural(labelled, 'has', 'have')} no grade by people but "
        f"a label of {markdown_code(name)}. {escaped_markdown(labels['labels'])}\n`qrels.txt.labels.json` says for "
        "each pair who gave its grade. All other numbers on this card count grades by people only."
    )
    yield _table(("grade", "pairs with a machine label"), list(labels["per_grade"].items()))
    yield _table(("setting", "value"), [(key, _setting(value)) for key, value in labels["settings"].items()])
    if warnings := labels["warnings"]:
        yield "\n".join(f"- {escaped_markdown(sentence)}" for sentence in warnings)


def _setting(value: object) -> str:
    """A setting in one cell: a text as it is, everything else as JSON, cut."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_SETTING else f"{text[:LONGEST_SETTING]}…"


def _judging(facts: CardFacts) -> Iterator[str]:
    judging = facts["judging"]
    if not judging["logged"]:
        return
    yield "## Annotators"
    people = judging["annotators"]
    numbers = {"judgements": "judgements", "adjudications": "adjudications"}
    numbers["median_seconds"] = "median seconds per judgement"
    numbers = {name: header for name, header in numbers.items() if name == "judgements" or any(p[name] for p in people)}
    yield _table(
        ("annotator", *numbers.values()),
        [
            (f"{p['annotator']} (imported)" if p["imported"] else p["annotator"], *(p[name] for name in numbers))
            for p in people
        ],
    )
    sentences = []
    if cannot := judging["cannot_judge"]:
        sentences.append(f'{count(cannot, "judgement")} {plural(cannot, "is", "are")} "cannot judge".')
    if timed := judging["timed"]:
        sentences.append(f"{count(timed, 'timed judgement')} took {duration(3600 * judging['hours'])}.")
    if judging["first_at"]:
        first, last = judging["first_at"][:10], judging["last_at"][:10]
        sentences.append(f"Judged on {first} (UTC)." if first == last else f"Judged from {first} to {last} (UTC).")
    yield " ".join(sentences)
    for led in facts.get("led_by_labels", []):
        yield (
            f"In {count(led['topics'], 'topic')}, the machine labels of {markdown_code(led['label_set'])} helped to "
            f"order the documents: {count(led['judgements'], 'judgement')} {plural(led['judgements'], 'is', 'are')} of "
            "documents that a model ranked with them. The labels are not grades, and estimates of recall do not rest "
            "on them."
        )
    if decisions := [f"{number:,} {what}" for what, number in facts["decisions"].items() if number]:
        yield f"In addition to grades: {join(decisions)}."


def _agreement(facts: CardFacts) -> Iterator[str]:
    agreement = facts["agreement"]
    if agreement is None:
        return
    yield "## Agreement"
    yield (
        f"{agreement['several']:,} of {count(agreement['pairs'], 'pair')} "
        f"{plural(agreement['several'], 'has', 'have')} 2 or more grades. The 95% intervals come from "
        f"{count(agreement['resamples'], 'bootstrap sample')} of {agreement['by']} (random seed "
        f"{agreement['seed']}). On the binary scale, grades of {agreement['level']:g} or more are relevant."
    )
    notes = ["note"] if any(v["note"] for v in agreement["values"]) else []
    yield _table(
        ("scale", "coefficient", "value", "95% CI low", "95% CI high", *notes),
        [
            (v["scale"], v["label"], *(_digits(v[n]) for n in ("value", "low", "high")), *(v[n] for n in notes))
            for v in agreement["values"]
        ],
    )
    yield from map(escaped_markdown, agreement["notes"])


def _pool(facts: CardFacts) -> Iterator[str]:
    pool = facts["pool"]
    if not pool["pairs"]:
        return
    yield "## Pooling"
    has = plural(pool["judged"], "has", "have")
    sentences = [f"{pool['judged']:,} of {count(pool['pairs'], 'pair')} in the pool {has} a grade."]
    if missing := pool["without_text"]:
        has, it_counts = plural(missing, "has", "have"), plural(missing, "it counts", "they count")
        sentences.append(f"{count(missing, 'pair')} {has} no text and cannot be judged; {it_counts} as unjudged.")
    if outside := pool["outside"]:
        sentences.append(f"{count(outside, 'pair')} outside the pool {plural(outside, 'has', 'have')} a grade.")
    if sampled_out := pool["sampled_out"]:
        sentences.append(f"Random sampling left out {count(sampled_out, 'pair')}.")
    yield " ".join(sentences)
    rounds, any_removed = list[tuple[object, ...]](), any("removed" in each for each in pool["rounds"])
    for number, each in enumerate(pool["rounds"], start=1):
        parameters = ", ".join(f"{k}={v}" for k, v in each["parameters"].items())
        removed = (each.get("removed", 0),) * any_removed
        rounds.append((number, each["strategy"], parameters, len(each["runs"]), each["pairs"], *removed))
    yield _table(("round", "strategy", "parameters", "runs", "pairs added", *("pairs removed",) * any_removed), rounds)
    yield f"Runs of the campaign: {_named([run['run'] for run in facts['runs']]) or 'none'}."


def _recall(facts: CardFacts) -> Iterator[str]:
    recall = facts["recall"]
    if not recall["topics"]:
        return
    yield "## Recall"
    pooled = sum(row["of"] == "pool" for row in recall["per_topic"])
    least = f"an estimated {recall['low']:,} to " if recall["low"] < recall["high"] else ""
    lines = [
        f"{recall['found']:,} relevant documents were found in {count(recall['topics'], 'topic')}, of {least}"
        f"{recall['high']:,} that exist by the sums of the topics' intervals (each with "
        f"{percent_down(recall['confidence'])} confidence by itself)."
    ]
    if pooled:
        which = "These numbers" if pooled == recall["topics"] else f"The numbers of {count(pooled, 'topic')}"
        lines.append(f"{which} cover the pool only, not documents that no system retrieved.")
    if missing := missing_texts(row["without_text"] for row in recall["per_topic"]):
        lines.append(f"{missing} The intervals allow for all of them being relevant.")
    yield "\n".join(lines)
    rows = sorted(recall["per_topic"], key=lambda row: (row["recall_low"] is None, row["recall_low"] or 0.0))
    names = {"query_id": "topic", "of": "scope", "judged": "judged", "found": "relevant found"}
    if pooled in (0, recall["topics"]):
        del names["of"]
    if missing:
        names["without_text"] = "text missing"
    yield _table(
        (*names.values(), "relevant documents", "recall, lower bound", "recall, upper bound"),
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
        yield f"The {FEW} topics with the lowest recall; `collection.json` has all {len(rows):,}."


def _across_topics(facts: CardFacts) -> Iterator[str]:
    promise = facts.get("recall_across_topics")
    if promise is None:
        return
    yield "## Recall across topics"
    topics = promise["calibration_topics"]
    lines = [escaped_markdown(promise["promise"])]
    if not promise["kept"]:
        lines.append("This promise is not kept, or in doubt: see below.")
    if topics:
        lines.append(f"Calibration topics: {_named(topics)}.")
    if closed := promise["closed"]:
        lines.append(f"Topics closed by the stopping rule: {_named(closed)}.")
    yield "\n".join(lines)
    if limits := promise["limits"]:
        yield "\n".join(f"- {escaped_markdown(note)}" for note in limits)


def _files(facts: CardFacts) -> Iterator[str]:
    if facts["files"]:
        yield "## Files"
        rows = [(file["path"], file["bytes"], file["sha256"]) for file in facts["files"]]
        yield _table(("file", "bytes", "SHA-256"), rows)


def _guidelines(facts: CardFacts) -> Iterator[str]:
    if facts["guidelines"]:
        yield "## Annotation guidelines"
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
    return join_first(map(_cell, names), most)
