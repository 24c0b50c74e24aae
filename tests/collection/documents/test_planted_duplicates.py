"""Duplicates planted among real records, as other databases write them, and distinct records that look alike."""

import gzip
import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from collection.core.records import Document
from collection.core.tokens import plain
from collection.documents.duplicate_records import RecordIndex

COHEN = Path(__file__).resolve().parents[4] / "shared" / "data" / "sr-cohen-a" / "documents.jsonl.gz"

SURNAMES = [
    "Berg",
    "Lund",
    "Dahl",
    "Alm",
    "Zorn",
    "Quist",
    "Ek",
    "Moser",
    "Keller",
    "Brandt",
    "Müller",
    "Østergård",
    "García",
    "Nguyen",
    "Li",
    "Wang",
    "O'Neill",
]
JOURNALS = {
    "Journal of Clinical Pharmacology": "J Clin Pharmacol", "The Lancet": "Lancet (London, England)",
    "Annals of Internal Medicine": "Ann. Intern. Med.", "JAMA": "Journal of the American Medical Association",
    "Archives of Neurology": "Arch Neurol",
}  # fmt: skip
GENERIC = [
    "Reply",
    "Editorial",
    "Letter to the editor",
    "Poster abstracts",
    "In this issue",
    "Abstracts of the annual meeting",
]


def records() -> list[Document]:
    """Real titles and abstracts, each title once, with made-up authors, journals, years, pages and identifiers."""
    chance, titles, found = random.Random(7), set(), []
    with gzip.open(COHEN, "rt", encoding="utf-8") as file:
        for number, line in enumerate(file):
            row = json.loads(line)
            if (title := plain(row["title"])) and title not in titles:
                titles.add(title)
                found.append(Document(f"p{number}", row["title"], row["text"], details(chance, number)))
    return found


def details(chance: random.Random, number: int) -> dict[str, object]:
    return {
        "authors": [f"{chance.choice(SURNAMES)}, {chance.choice('ABCDEFG')}." for _ in range(3)],
        "year": chance.randint(1994, 2004),
        "journal": chance.choice(list(JOURNALS)),
        "pages": f"{chance.randint(1, 900)}-{number}",
        "doi": f"10.5555/p.{number}" if chance.random() < 0.6 else "",
        "pmid": str(10_000_000 + number) if chance.random() < 0.7 else "",
    }


def copied(chance: random.Random, record: Document, number: int) -> Document:
    """The record as another database has it."""
    data, text = dict(record.metadata), record.text or ""
    names = [str(name) for name in data["authors"]]  # type: ignore[attr-defined]
    data["authors"] = [name.replace(",", "") for name in names] if chance.random() < 0.7 else []
    data["journal"] = JOURNALS[str(data["journal"])]
    data["year"] = int(str(data["year"])) + (chance.random() < 0.1)
    data["pages"] = str(data["pages"]).partition("-")[0] if chance.random() < 0.8 else ""
    data["doi"] = f"https://doi.org/{data['doi']}/".upper() if data["doi"] and chance.random() < 0.5 else ""
    data["pmid"] = ""
    shape = chance.randrange(5)
    text = [text, f"BACKGROUND: {text} Copyright (C) 2001 North Press.", text[: len(text) * 2 // 3], "", text.upper()][
        shape
    ]
    title = [record.title, record.title.rstrip(".").upper(), f"<i>{record.title}</i>", f"[{record.title}]"][number % 4]
    return Document(f"c{number}", title, text, data)


def distinct(chance: random.Random, known: list[Document], number: int) -> Document:
    """Another publication that shares a title and year, or the DOI of a supplement, with a known one."""
    other, text = chance.choice(known), known[number].text
    data = details(chance, 100_000 + number) | {"authors": [f"Unlike{number}, X."]}
    if number % 3 == 0:
        return Document(f"d{number}", chance.choice(GENERIC), text, data | {"year": 2000, "doi": "", "pmid": ""})
    if number % 3 == 1:
        return Document(f"d{number}", other.title, text, data | {"year": other.metadata["year"]})
    return Document(
        f"d{number}", chance.choice(known).title + " (abstract)", text, data | {"doi": other.metadata["doi"]}
    )


def outcomes(base: list[Document], others: Iterator[Document]) -> Counter[tuple[str, str]]:
    """Kind of a record ("c" a copy, "d" a distinct one) and what happens to it -> number of records."""
    index, found = RecordIndex(), Counter[tuple[str, str]]()
    for record in base:
        index.add(record)
    for record in others:
        match = next(iter(index.enter(record)), None)
        right = match is not None and match.doc_id[1:] == record.doc_id[1:]
        state = "kept" if match is None else "left out" if match.certain else "listed"
        found[record.doc_id[0], state if right or state != "left out" or record.doc_id[0] == "d" else "wrong"] += 1
    return found


@pytest.mark.shared
@pytest.mark.long
def test_distinct_records_stay_and_copies_go() -> None:
    """No distinct record is lost; most copies are left out, and hardly any is neither left out nor listed."""
    base, chance = records(), random.Random(3)
    sample = chance.sample([record for record in base if len((record.text or "").split()) > 20], 600)
    copies = (copied(chance, record, int(record.doc_id[1:])) for record in sample)
    found = outcomes(base, copies)
    assert found["c", "wrong"] == 0
    assert found["c", "left out"] / 600 > 0.95, found
    assert found["c", "kept"] / 600 < 0.02, found
    found = outcomes(base, (distinct(chance, sample, number) for number in range(600)))
    assert found["d", "left out"] == 0, found
