"""Writers of generated answers and their labels, in the formats of TREC RAG, RAGTIME, nuggetizer and NIST."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal, get_args

import pandas as pd

from collection.core.answers import SUPPORT_GRADES, Answers, NuggetLabels, SupportLabels
from collection.core.characters import one_line
from collection.core.errors import InputError, require_known
from collection.core.frames import ANSWERS, NUGGET_ASSIGNMENTS, NUGGETS, SENTENCES, SUPPORT
from collection.formats import source
from collection.formats.source import FilePath
from collection.formats.write import json_line, replacing

AnswersForm = Literal["rag2024", "rag2025", "rag2026", "ragtime"]
"""Format of a file of answers."""

NuggetsForm = Literal["nuggetizer", "ragtime"]
"""Format of a file of nuggets."""

_LABELS = {grade: label for label, grade in SUPPORT_GRADES.items()}
_Pair = tuple[str, str]


def write_answers(answers: Answers, path: FilePath, *, form: AnswersForm = "rag2026") -> None:
    """Write answers as ``.jsonl`` in the format of a track, which :func:`.read_answers` reads.

    Parameters
    ----------
    form
        "rag2024" has no teams, and states a number of words for each answer (the counted one if an answer states none).
        The other formats have the member ``response_length`` where an answer states a number. "ragtime" has no texts of
        topics; it has citations as a list of ids, and is the only format with texts of cited documents, as in TREC
        Auto-Judge. All other values are kept. The members ``type`` ("rag2025") and ``run_desc`` ("rag2026"), which the
        tracks require, are empty.

    Raises
    ------
    InputError
        The format or ending is unknown, sentences have no answer, or the file cannot be written.
    """
    require_known("form of answers", get_args(AnswersForm), form)
    _require_jsonl(path, "answers")
    sentences = _sentences(answers.answers, answers.sentences)
    titles, narratives = (_texts(answers.topics, "query_id", name) for name in ("title", "narrative"))
    documents = {
        doc_id: {"id": doc_id, "title": title, "text": text}
        for doc_id, title, text in zip(*(answers.documents[n] for n in ("doc_id", "title", "text")), strict=True)
    }
    columns = (answers.answers[name].tolist() for name in ("run", "query_id", "team", "words", "stated_words"))
    with replacing(path) as file:
        for run, query_id, team, words, stated in zip(*columns, strict=True):
            written = sentences.get((run, query_id), [])
            references = list(dict.fromkeys(doc_id for _, cited in written for doc_id in cited))
            place = {doc_id: index for index, doc_id in enumerate(references)}
            items = [{"text": text, "citations": [place[doc_id] for doc_id in cited]} for text, cited in written]
            narrative = narratives.get(query_id) or titles.get(query_id, "")
            record: dict[str, Any]
            if form == "rag2024":
                length = int(words if pd.isna(stated) else stated)
                record = {"run_id": run, "topic_id": query_id, "topic": titles.get(query_id) or narrative}
                record |= {"references": references, "response_length": length, "answer": items}
            elif form == "ragtime":
                items = [{"text": text, "citations": list(cited)} for text, cited in written]
                record = {"metadata": {"team_id": team, "run_id": run, "topic_id": query_id}, "responses": items}
                texts = {doc_id: documents[doc_id] for doc_id in references if doc_id in documents}
                record |= {"references": references, **({"documents": texts} if texts else {})}
            else:
                metadata = {"team_id": team, "run_id": run, "narrative_id": query_id, "narrative": narrative}
                metadata |= {"type": ""} if form == "rag2025" else {"run_desc": ""}
                record = {"metadata": metadata, "references": references, "answer": items}
            if form != "rag2024" and not pd.isna(stated):
                record["response_length"] = int(stated)
            file.write(json_line(record))


def _require_jsonl(path: FilePath, what: str) -> None:
    if source.suffix(path) != ".jsonl":
        raise source.ending_error(path, what, (".jsonl",))


def _sentences(answers: pd.DataFrame, sentences: pd.DataFrame) -> dict[_Pair, list[tuple[str, tuple[str, ...]]]]:
    """Return texts and citations of the sentences of each answer, in order."""
    ANSWERS.check(answers, "writing answers")
    given = SENTENCES.check(sentences, "writing answers").sort_values("sentence", kind="stable")
    grouped: dict[_Pair, list[tuple[str, tuple[str, ...]]]] = {
        pair: [] for pair in zip(answers["run"], answers["query_id"], strict=True)
    }
    columns = (given[name].tolist() for name in ("run", "query_id", "text", "citations"))
    for run, query_id, text, citations in zip(*columns, strict=True):
        if (run, query_id) not in grouped:
            raise InputError(f"writing answers: expected an answer of run {run!r} for topic {query_id!r}, found none")
        grouped[run, query_id].append((text, citations))
    return grouped


def _texts(frame: pd.DataFrame, key: str, name: str) -> dict[str, str]:
    return dict(zip(frame[key].tolist(), frame[name].tolist(), strict=True))


def write_nuggets(
    nuggets: pd.DataFrame, path: FilePath, titles: Mapping[str, str] | None = None, *, form: NuggetsForm = "nuggetizer"
) -> None:
    """Write nuggets as ``.jsonl``, one topic per line, which :func:`.read_nuggets` reads.

    `nuggets` is :data:`.NUGGETS`, in the order of the file. Values that a format does not have are further members
    of a nugget: ``weight``, ``mapped_sub_narrative``, ``source``. `titles` are the texts of topics by id.

    Parameters
    ----------
    form
        "nuggetizer" also has ``question`` and ``answers`` as further members, and ``nugget_id`` unless it equals the
        nugget's number in the topic. "ragtime" is the nugget bank of RAGTIME and TREC Auto-Judge: questions with
        answers in ``nugget_bank``, all other nuggets after them as claims in ``claim_bank``, and the documents of
        ``source`` as ``references`` of a question. A ``text`` that is not the question is a further member.
    """
    require_known("format of nuggets", get_args(NuggetsForm), form)
    _require_jsonl(path, "nuggets")
    with replacing(path) as file:
        for query_id, items in _nuggets(nuggets).items():
            query = (titles or {}).get(query_id, "")
            if form == "ragtime":
                file.write(json_line({"query_id": query_id, "title_query": query, **_banks(query_id, items)}))
            else:
                file.write(json_line({"query": query, "qid": query_id, "nuggets": list(items.values())}))


def _banks(query_id: str, items: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, dict[str, object]]]:
    """Return the nuggets of a topic as a bank of questions and one of claims, each by its text."""
    banks: dict[str, dict[str, dict[str, object]]] = {"nugget_bank": {}, "claim_bank": {}}
    for nugget, item in items.items():
        others = {name: value for name, value in item.items() if name not in ("text", "nugget_id") and value != ""}
        text, source = item["text"], item.get("source", "")
        if answers := others.get("answers"):
            others["answers"] = {each: {"answer": each} for each in answers}
        if question := others.get("question"):
            bank, entry = banks["nugget_bank"], {"question_id": nugget, "query_id": query_id, **others}
            entry |= {} if text == question else {"text": text}
            if source and source == one_line(source):
                entry["references"] = [{"doc_id": each} for each in entry.pop("source").split()]
        else:
            bank, entry = banks["claim_bank"], {"claim": text, "claim_id": nugget, "query_id": query_id, **others}
        bank[text if text not in bank else f"{text} ({nugget})"] = entry
    return banks


def _nuggets(nuggets: pd.DataFrame) -> dict[str, dict[str, dict[str, object]]]:
    """Topic -> id of a nugget -> its object."""
    checked = NUGGETS.check(nuggets, "writing nuggets")
    checked = checked.fillna(dict.fromkeys(("question", "sub_narrative", "source"), ""))
    topics: dict[str, dict[str, dict[str, object]]] = {}
    for row in checked.to_dict("records"):
        topic = topics.setdefault(row["query_id"], {})
        if row["nugget"] in topic:
            raise InputError(f"writing nuggets: nugget {row['nugget']!r} of topic {row['query_id']!r} twice")
        item: dict[str, object] = {"text": row["text"], "importance": row["importance"]}
        weight = {} if pd.isna(row["weight"]) else {"weight": row["weight"]}
        others = {"question": row.get("question"), "answers": list(row.get("answers") or ())}
        others |= {"mapped_sub_narrative": row.get("sub_narrative"), "source": row.get("source")}
        others["nugget_id"] = "" if row["nugget"] == str(len(topic) + 1) else row["nugget"]
        topic[row["nugget"]] = item | weight | {name: value for name, value in others.items() if value}
    return topics


def write_nugget_assignments(labels: NuggetLabels, path: FilePath) -> None:
    """Write nugget assignments as ``.jsonl`` in nuggetizer's format, one answer per line.

    A label without a grade is an empty ``assignment``. :func:`.read_nugget_assignments` reads the file. Answers without
    assignments have no nuggets. Nuggets with the text of another have ``nugget_id``, which is read with the nuggets.
    """
    _require_jsonl(path, "nugget assignments")
    nuggets, titles = _nuggets(labels.nuggets), _texts(labels.topics, "query_id", "title")
    for topic in nuggets.values():
        number = Counter(item["text"] for item in topic.values())
        topic.update({name: item | {"nugget_id": name} for name, item in topic.items() if number[item["text"]] > 1})
    grades: dict[_Pair, dict[str, int | None]] = {}
    checked = NUGGET_ASSIGNMENTS.check(labels.assignments, "writing nugget assignments")
    columns = (checked[name].tolist() for name in NUGGET_ASSIGNMENTS.names)
    for run, query_id, nugget, grade in zip(*columns, strict=True):
        if nugget not in nuggets.get(query_id, {}):
            raise InputError(f"writing nugget assignments: topic {query_id!r} has no nugget {nugget!r}")
        grades.setdefault((run, query_id), {})[nugget] = None if pd.isna(grade) else int(grade)
    answers = labels.answers
    texts = answers["text"].tolist() if "text" in answers else [""] * len(answers)
    columns = (answers[name].tolist() for name in ("run", "query_id", "words", "stated_words"))
    with replacing(path) as file:
        for run, query_id, words, stated, text in zip(*columns, texts, strict=True):
            items = [
                {**nuggets[query_id][nugget], "assignment": _LABELS.get(grade, "") if grade is not None else ""}
                for nugget, grade in grades.get((run, query_id), {}).items()
            ]
            length = int(words if pd.isna(stated) else stated)
            record = {"query": titles.get(query_id, ""), "qid": query_id, "answer_text": text}
            file.write(json_line({**record, "response_length": length, "run_id": run, "nuggets": items}))


def write_support(labels: SupportLabels, path: FilePath) -> None:
    """Write support labels as ``.jsonl`` in NIST's format, one answer per line, which :func:`.read_support` reads.

    A citation without a grade, or without a label, has the support "-1".
    """
    _require_jsonl(path, "support")
    labelled: dict[tuple[str, str, int], dict[str, dict[str, Any]]] = {}
    for row in SUPPORT.check(labels.support, "writing support").to_dict("records"):
        grade = "-1" if pd.isna(row["grade"]) else str(int(row["grade"]))
        label = {"citationID": row["position"], "reference": row["doc_id"], "support": grade}
        labelled.setdefault((row["run"], row["query_id"], row["sentence"]), {})[row["doc_id"]] = label
    items: dict[_Pair, list[dict[str, object]]] = {}
    for row in SENTENCES.check(labels.sentences, "writing support").to_dict("records"):
        key = row["run"], row["query_id"], row["sentence"]
        item: dict[str, object] = {"sentenceID": row["sentence"], "text": row["text"]}
        for name, written in (("verification_worthy", "verification_worthy"), ("combined_grade", "citationsCombibed")):
            if name in row:
                item[written] = "-1" if pd.isna(row[name]) else str(int(row[name]))
        cited: dict[str, dict[str, Any]] = {
            doc_id: {"citationID": place, "reference": doc_id, "support": "-1"}
            for place, doc_id in enumerate(row["citations"])
        }
        citations = sorted((cited | labelled.get(key, {})).values(), key=lambda each: each["citationID"])
        items.setdefault(key[:2], []).append({**item, "citations": citations})
    with replacing(path) as file:
        for run, query_id in zip(labels.answers["run"], labels.answers["query_id"], strict=True):
            record = {"topic_id": query_id, "run_id": run, "sentences": items.get((run, query_id), [])}
            file.write(json_line(record))
