"""Duplicates of references on labelled data: how many are certain or possible duplicates, and which are merged wrongly.

Titles and abstracts are those of nine systematic reviews (Cohen et al. 2006); authors, journals, years, pages, DOIs and
PMIDs are made up. Copies imitate the records of other databases, with typing errors, abbreviated journals, other forms
of names, missing fields, and cut or translated abstracts; look-alikes are distinct publications. The rules were chosen
on five of the reviews, and the figures of the other four are reported.
"""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from collection.core.records import Document
from collection.core.tokens import plain
from collection.documents.duplicate_records import RecordIndex

COHEN = Path(__file__).resolve().parents[3] / "shared" / "data" / "sr-cohen-a" / "documents.jsonl.gz"
CHOSEN_ON = ("ADHD", "Estrogens", "Triptans", "UrinaryIncontinence", "Antihistamines")
"""Reviews on which the rules were chosen; the figures of the others are reported beside theirs."""

_NAMES = """
    Berg Lund Dahl Alm Zorn Quist Ek Moser Keller Brandt Müller Østergård García Nguyen Li Wang O'Neill Rossi Silva
    Kim Tanaka Novák Kowalski Ivanov Haddad Cohen Smith Jones Brown Martin Dubois Lefèvre Schmidt Weber Costa Ruiz
"""
SURNAMES = _NAMES.split()
JOURNALS = {
    "Journal of Clinical Pharmacology": "J Clin Pharmacol", "The Lancet": "Lancet",
    "Annals of Internal Medicine": "Ann. Intern. Med.", "JAMA": "Journal of the American Medical Association",
    "Archives of Neurology": "Arch Neurol", "American Journal of Cardiology": "Am. J. Cardiol.",
    "European Journal of Clinical Pharmacology": "Eur J Clin Pharmacol", "Hypertension": "Hypertension (Dallas)",
    "Clinical Therapeutics": "Clin Ther", "Diabetes Care": "Diabetes care",
}  # fmt: skip
GENERIC = ("Reply", "Editorial", "Letter to the editor", "In this issue", "Poster abstracts", "Correction")
TRANSLATED = {
    "the": "die", "of": "von", "and": "und", "in": "bei", "patients": "Patienten",
    "treatment": "Behandlung", "was": "war", "were": "wurden", "with": "mit", "effects": "Wirkungen", "for": "für",
    "to": "zu", "a": "ein", "study": "Studie",
}  # fmt: skip


KINDS = (
    "plain", "typing error in the title", "journal abbreviated", "names in another form", "fields missing",
    "abstract cut", "abstract missing", "abstract translated", "year of the print", "title in capitals",
)  # fmt: skip
"""Kinds of change in a copy; a plain one has none."""


def read(reviews: tuple[str, ...], *, others: bool) -> list[Document]:
    """Records of some reviews, or of all others, each title once."""
    chance, titles, records = random.Random(7), set(), []
    with gzip.open(COHEN, "rt", encoding="utf-8") as file:
        for number, line in enumerate(file):
            row = json.loads(line)
            title = plain(row["title"])
            if (row["docno"].rpartition("-")[0] in reviews) != others and title and title not in titles:
                titles.add(title)
                records.append(Document(f"p{number}", row["title"], row["text"], describe(chance, number)))
    return records


def describe(chance: random.Random, number: int) -> dict[str, object]:
    """Details of a publication."""
    first = chance.randint(1, 900)
    names = [f"{chance.choice(SURNAMES)}, {chance.choice('ABCDEFGHJKLM')}. {chance.choice('ABCD')}." for _ in range(4)]
    return {
        "authors": names, "year": chance.randint(1994, 2004), "journal": chance.choice(list(JOURNALS)),
        "pages": f"{first}-{first + chance.randint(2, 12)}",
        "doi": f"10.5555/p.{number}" if chance.random() < 0.6 else "",
        "pmid": str(10_000_000 + number) if chance.random() < 0.7 else "",
    }  # fmt: skip


def mistype(chance: random.Random, text: str) -> str:
    """A text with one letter left out, doubled or exchanged."""
    if len(text) < 4:
        return text
    place = chance.randrange(1, len(text) - 2)
    return text[:place] + chance.choice(["", text[place] * 2, text[place + 1] + text[place]]) + text[place + 1 :]


def copy(chance: random.Random, record: Document, kinds: Iterable[str], *, with_identifiers: bool) -> Document:
    """A record as another database has it, after some kinds of change."""
    copied = record._replace(doc_id=f"c{record.doc_id[1:]}")
    if not with_identifiers:
        copied = copied._replace(metadata={**copied.metadata, "doi": "", "pmid": ""})
    for kind in kinds:
        copied = change(chance, copied, kind)
    return copied


def change(chance: random.Random, record: Document, kind: str) -> Document:
    """A record after one kind of change."""
    data, title, text = dict(record.metadata), record.title, record.text or ""
    names = [str(name) for name in data["authors"]]  # type: ignore[attr-defined]
    journal = str(data["journal"])
    if kind == "typing error in the title":
        title = mistype(chance, title)
    elif kind == "journal abbreviated":
        data["journal"] = JOURNALS.get(journal, journal)
    elif kind == "names in another form":
        data["authors"] = [" ".join(reversed(name.split(", "))) for name in names]
    elif kind == "fields missing":
        for name in chance.sample(["authors", "journal", "pages"], 2):
            data[name] = [] if name == "authors" else ""
    elif kind == "abstract cut":
        text = text[: len(text) * 2 // 3]
    elif kind == "abstract missing":
        text = ""
    elif kind == "abstract translated":
        text = " ".join(TRANSLATED.get(word, mistype(chance, word)) for word in text.split())
    elif kind == "year of the print":
        data["year"] = int(str(data["year"])) + 1
    elif kind == "title in capitals":
        title = f"[{title.rstrip('.').upper()}]"
        data["authors"] = [name.replace(",", "").replace(".", "") for name in names]
        data["journal"] = JOURNALS.get(journal, journal)
    return Document(record.doc_id, title, text, data)


def look_alike(chance: random.Random, record: Document, other: Document, number: int) -> tuple[str, list[Document]]:
    """A kind, and two distinct publications that look alike; `record` is one of them if only one is given."""
    data = dict(record.metadata)
    new = describe(chance, 1_000_000 + number)
    words = (record.text or "").split()
    trial = {"authors": ["Novartis"], "year": data["year"], "journal": "ClinicalTrials.gov", "pages": "", "doi": "",
             "pmid": ""}  # fmt: skip
    pairs: dict[str, list[Document]] = {
        "reply": [
            Document("d", f"Reply to: {record.title}", "", {**data, "doi": "", "pmid": "", "pages": new["pages"]})
        ],
        "erratum": [
            Document("d", f"Erratum: {record.title}", "", {**data, "pages": new["pages"], "pmid": new["pmid"]})
        ],
        "corrigendum under the DOI": [Document("d", f"{record.title} Corrigendum", "", data)],
        "conference and journal": [
            Document("d", record.title, " ".join(words[: len(words) // 2]),
                     {**data, "journal": "Proceedings of the Annual Meeting", "pages": "S12", "doi": "", "pmid": ""})
        ],
        "part I and II": [
            Document("d1", f"{record.title.rstrip('.')}. Part I", record.text, {**data, "doi": "", "pmid": ""}),
            Document("d2", f"{record.title.rstrip('.')}. Part II", other.text, {**data, "doi": "", "pmid": ""}),
        ],
        "same generic title": [
            Document("d1", GENERIC[number % len(GENERIC)], "", {**data, "doi": "", "pmid": "", "pages": "1"}),
            Document("d2", GENERIC[number % len(GENERIC)], "", {**data, "doi": "", "pmid": "", "pages": "301"}),
        ],
        "generic title, other author": [
            Document("d1", GENERIC[number % len(GENERIC)], "", {**data, "doi": "", "pmid": ""}),
            Document("d2", GENERIC[number % len(GENERIC)], "",
                     {**data, "doi": "", "pmid": "", "authors": new["authors"], "pages": new["pages"]}),
        ],
        "two trials with one title": [
            Document("d1", record.title, f"{record.text} NCT{number:08d}", trial),
            Document("d2", record.title, f"{record.text} NCT{number + 5000:08d}", trial),
        ],
        "abstracts of a supplement": [
            Document("d1", record.title, record.text, {**data, "doi": f"10.5555/s.{number}", "pmid": ""}),
            Document("d2", other.title, other.text,
                     {**other.metadata, "year": data["year"], "journal": data["journal"], "pmid": "",
                      "doi": f"10.5555/s.{number}"}),
        ],
        "same title, other group": [
            Document("d", record.title, other.text, {**new, "year": data["year"], "doi": "", "pmid": ""})
        ],
    }  # fmt: skip
    kind = list(pairs)[number % len(pairs)]
    documents = [each._replace(doc_id=f"{each.doc_id}-{number}") for each in pairs[kind]]
    return kind, documents if len(documents) == 2 else [record, *documents]


def measure(records: list[Document], seed: int) -> dict[str, dict[str, tuple[int, int, int]]]:
    """Kind -> numbers of records merged, listed as possible duplicates, kept apart, and merged with another record.

    Of distinct records, of copies with one kind of change and with three kinds, and of look-alikes.
    """
    chance = random.Random(seed)
    copies, harder, alike = (Counter[tuple[str, str]]() for _ in range(3))
    index, distinct = RecordIndex(), Counter[tuple[str, str]]()
    for record in records:
        matches = index.enter(record)
        distinct["records", state(matches, "")] += 1
    for number, record in enumerate(chance.sample(records, min(len(records), 1500))):
        kind, has_identifiers = KINDS[number // 2 % len(KINDS)], number % 2 == 0
        changed = copy(chance, record, [kind], with_identifiers=has_identifiers)
        copies[kind + ", with identifiers" * has_identifiers, state(index.enter(changed), record.doc_id)] += 1
    with_text = [record for record in records if len((record.text or "").split()) > 40]
    for number, record in enumerate(chance.sample(with_text, min(len(with_text), 1500))):
        kind, pair = look_alike(chance, record, chance.choice(with_text), number)
        alone = RecordIndex()
        alone.add(pair[0])
        alike[kind, state(alone.enter(pair[1]), pair[0].doc_id)] += 1
    index = RecordIndex()  # without the copies above, which would match the next ones
    for record in records:
        index.add(record)
    for number, record in enumerate(chance.sample(records, min(len(records), 1500))):
        has_identifiers = number % 2 == 0
        changed = copy(chance, record, chance.sample(KINDS[1:], 3), with_identifiers=has_identifiers)
        kind = f"{'with' if has_identifiers else 'without'} identifiers"
        harder[kind, state(index.enter(changed), record.doc_id)] += 1
    counts = {"copies": copies, "copies, three kinds of change": harder, "look-alikes": alike, "distinct": distinct}
    return {name: table(counted) for name, counted in counts.items()}


def state(matches: list, wanted: str) -> str:
    """What happens to a record that duplicates `wanted`, or no record if that is empty."""
    if matches and matches[0].certain:
        return "merged" if matches[0].doc_id == wanted or not wanted else "wrong"
    return "possible" if wanted in [match.doc_id for match in matches] or (matches and not wanted) else "apart"


def table(counted: Counter[tuple[str, str]]) -> dict[str, tuple[int, int, int, int]]:
    kinds = dict.fromkeys(kind for kind, _ in counted)
    states = ("merged", "possible", "apart", "wrong")
    return {kind: tuple(counted[kind, state] for state in states) for kind in kinds}  # type: ignore[misc]


def main() -> None:
    """Print the figures."""
    for title, others, seed in (("Reviews on which the rules were chosen", False, 3), ("Other reviews", True, 5)):
        records = read(CHOSEN_ON, others=others)
        print(f"## {title}: {len(records):,} distinct records\n")
        for name, rows in measure(records, seed).items():
            print(f"| {name} | merged | possible duplicate | kept apart | merged with another |\n|---|---|---|---|---|")
            everything = [sum(column) for column in zip(*rows.values(), strict=True)]
            for kind, numbers in (*sorted(rows.items()), ("all", everything)):
                print(f"| {kind} | {' | '.join(f'{number:,}' for number in numbers)} |")
            merged, possible, *_ = everything
            if name.startswith("copies"):
                total = sum(everything)
                print(f"\nCertain: {merged / total:.3f}, certain or possible: {(merged + possible) / total:.3f}")
            print()


if __name__ == "__main__":
    main()
