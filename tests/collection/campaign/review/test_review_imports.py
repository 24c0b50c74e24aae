"""Files into a literature review: records with ids, decisions of other tools, removal, and words of reviewers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from collection import Campaign
from collection.core.errors import ConflictError, InputError
from collection.core.review import REASON, Review
from tests.helpers import ok, run

RIS = """TY  - JOUR
TI  - {title}
AU  - Berg, T.
PY  - 2019
JO  - Journal of Old Age
DO  - {doi}
N1  - {note}
ER  -

"""
TITLES = {
    1: "Exercise prevents falls of older adults",
    2: "Heat pumps in the homes of older adults",
    3: "Vitamin tablets for strong bones in winter",
    4: "Dancing lessons improve the balance of men",
}


def write_ris(path: Path, numbers: dict[int, str]) -> Path:
    """Records by their number, each with a note."""
    path.write_text(
        "".join(RIS.format(title=TITLES[n], doi=f"10.5555/r.{n}", note=note) for n, note in numbers.items())
    )
    return path


@pytest.fixture
def review(tmp_path: Path) -> Iterator[Campaign]:
    with Campaign.create(tmp_path / "review", review=Review("Falls")) as campaign:
        yield campaign


def decisions(review: Campaign) -> dict[str, str]:
    """Record -> decision, without unscreened ones."""
    table = review.review.decisions.table()
    made = table[table["decision"] != "unscreened"]
    return dict(zip(made["doc_id"], made["decision"], strict=True))


def test_records_with_ids_are_duplicates_of_others(review: Campaign, tmp_path: Path) -> None:
    table = tmp_path / "own.csv"
    table.write_text(
        "id,title,author(s),year,journal,doi\n"
        f'a7,"{TITLES[1].upper()}","Berg, T.; Lund, K.",2019,J Old Age,10.5555/R.1\n'
        f'a8,"{TITLES[2]}","Berg, T.",2019,Journal of Old Age,\n'
        f'a9,"{TITLES[1]}","Lund, K.",2019,Journal of Old Age,\n'
    )
    review.imports.import_files(documents=[write_ris(tmp_path / "a.ris", {1: "", 2: ""})])
    report = review.imports.import_files(documents=[table])
    assert [(each.doc_id, each.duplicate_of, each.left_out) for each in report.duplicates] == [
        ("a7", "10.5555/r.1", True), ("a8", "10.5555/r.2", True), ("a9", "10.5555/r.1", False),
    ]  # fmt: skip
    assert review.records.pairs()[["doc_a", "doc_b"]].values.tolist() == [["10.5555/r.1", "a9"]]
    assert review.store.corpus.documents(["a9"])["a9"].metadata["authors"] == ["Lund, K."]
    counts = review.review.report.prisma()
    assert (counts.identified, counts.duplicates, counts.unscreened) == (5, 2, 3)
    assert review.records.sources()["name"].tolist() == ["a.ris", "own.csv"]
    # Decisions name a record by the id of its file.
    labels = tmp_path / "labels.csv"
    labels.write_text("annotator,query_id,doc_id,relevance\nann,review,a7,2\n")
    review.imports.import_files(labels=labels)
    assert decisions(review) == {"10.5555/r.1": "include"}
    again = review.imports.import_files(documents=[table])
    assert "imported before" in again.done[0]


def test_an_id_of_another_record_is_refused(review: Campaign, tmp_path: Path) -> None:
    one, other = tmp_path / "one.csv", tmp_path / "other.csv"
    one.write_text(f'id,title,abstract\n1,"{TITLES[1]}",A trial of exercise.\n')
    other.write_text(f'id,title,abstract\n1,"{TITLES[3]}",Many tablets were taken.\n')
    review.imports.import_files(documents=[one])
    with pytest.raises(ConflictError, match="'1'"):
        review.imports.import_files(documents=[other])


def test_documents_that_are_files_are_possible_duplicates(review: Campaign, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    page = "<html><head><title>{}</title></head><body><p>{}</p></body></html>"
    for name in ("a", "b"):
        (folder / f"{name}.html").write_text(page.format(TITLES[1], f"We asked {name} to walk up the stairs."))
    report = review.imports.import_files(documents=[folder])
    assert [(each.doc_id, each.left_out) for each in report.duplicates] == [("b.html", False)]
    assert review.records.pairs()[["doc_a", "doc_b"]].values.tolist() == [["a.html", "b.html"]]


def test_a_file_with_duplicates_is_removed(review: Campaign, tmp_path: Path) -> None:
    first = write_ris(tmp_path / "first.ris", {1: "", 2: ""})
    second = write_ris(tmp_path / "second.ris", {2: "", 3: ""})
    review.imports.import_files(documents=[first, second])
    said = run("remove", review.directory, "--documents-in", second, "--dry-run")
    assert said.stdout == "To remove: 1 record and 1 duplicate record.\n"
    assert said.stderr == "note: 1 record stays, because other files have it as well.\n"
    ok("remove", review.directory, "--documents-in", second, "--yes")
    assert review.store.corpus.ids_with_text() == ["10.5555/r.1", "10.5555/r.2"]
    assert review.records.sources()[["name", "documents"]].values.tolist() == [["first.ris", 2]]
    assert review.review.report.prisma().identified == 2
    review.imports.import_files(documents=[second])
    assert review.review.report.prisma().identified == 4
    # The file whose record made the document: the record of the other file makes it then.
    ok("remove", review.directory, "--documents-in", first, "--yes")
    assert review.store.corpus.ids_with_text() == ["10.5555/r.2", "10.5555/r.3"]
    assert review.records.table()["reason"].isna().all()
    assert review.records.counts().identified == {"second.ris": 2}


def test_a_record_merged_within_one_file_is_removed_with_it(review: Campaign, tmp_path: Path) -> None:
    file = tmp_path / "twice.ris"
    file.write_text(
        RIS.format(title=TITLES[1], doi="10.5555/r.1", note="") + RIS.format(title=TITLES[1], doi="", note="")
    )
    review.imports.import_files(documents=[file])
    assert ok("remove", review.directory, "--documents-in", file, "--yes") == "Removed 1 record.\n"
    assert review.records.sources().empty


RAYYAN = 'RAYYAN-INCLUSION: {"Ann"=>"Included", "Bob"=>"Maybe"} | RAYYAN-LABELS: good'


def test_decisions_of_tools_are_reported_and_imported_when_asked_for(review: Campaign, tmp_path: Path) -> None:
    notes = {1: RAYYAN, 2: "ASReview_irrelevant", 3: "ASReview_not_seen", 4: "Exclusion reason: Wrong outcome; "}
    report = review.imports.import_files(documents=[write_ris(tmp_path / "a.ris", notes)])
    assert review.records.count_decisions() == 3
    said = next(notice for notice in report.notices if "screening tool" in notice)
    assert "3 records have decisions" in said
    assert f"`cleverdon review {review.directory} --decisions-by NAME`" in said
    assert decisions(review) == {}
    review.review.update(screeners=2)
    assert "a.ris: 5 decisions by 3 screeners (5 new)" in ok("review", review.directory, "--decisions-by", "cat")
    log = review.store.judgements.table(columns=["annotator", "doc_id", "relevance"]).to_numpy().tolist()
    assert sorted(log) == [
        ["Ann", "10.5555/r.1", 2], ["Bob", "10.5555/r.1", 1], ["cat", "10.5555/r.2", 0], ["cat", "10.5555/r.4", 0],
        ["cat", "10.5555/r.4", 2],
    ]  # fmt: skip
    again = review.imports.import_decisions("cat")
    assert again.done == ["a.ris: 5 decisions by 3 screeners (0 new, 5 unchanged)"]


def test_reasons_of_rayyan_are_of_those_who_excluded_the_record(review: Campaign, tmp_path: Path) -> None:
    """Of several reasons the first is imported, since a decision has one; the others are named."""
    review.review.update(screeners=2)
    both = '{"Ann"=>"Excluded", "Bob"=>"Excluded"} | RAYYAN-EXCLUSION-REASONS: wrong outcome,foreign language'
    one = '{"Ann"=>"Included", "Bob"=>"Excluded"} | RAYYAN-EXCLUSION-REASONS: No trial | USER-NOTES: {"Bob"=>["x"]}'
    review.imports.import_files(
        documents=[write_ris(tmp_path / "a.ris", {1: f"RAYYAN-INCLUSION: {both}", 2: f"RAYYAN-INCLUSION: {one}"})]
    )
    report = review.imports.import_decisions("cat")
    assert report.notices == [
        "added 1 reason for exclusion to the review: No trial",
        "left out 1 further reason for exclusion of records with several: foreign language",
    ]
    log = review.store.judgements.table(columns=["annotator", "doc_id", "relevance", "answers"]).to_numpy().tolist()
    assert sorted(log, key=lambda row: row[:2]) == [
        ["Ann", "10.5555/r.1", 0, {REASON: "Wrong outcome"}], ["Ann", "10.5555/r.2", 2, {}],
        ["Bob", "10.5555/r.1", 0, {REASON: "Wrong outcome"}], ["Bob", "10.5555/r.2", 0, {REASON: "No trial"}],
    ]  # fmt: skip


def test_imported_decisions_change_no_other_ones(review: Campaign, tmp_path: Path) -> None:
    table = tmp_path / "asreview.csv"
    rows = "".join(f'"{TITLES[n]}","Berg, T.",{label}\n' for n, label in ((1, "1"), (2, "0"), (3, "")))
    table.write_text(f"title,authors,label_included\n{rows}")
    review.imports.import_files(documents=[table])
    first, second, _ = review.store.corpus.ids_with_text()
    review.judging.judge("ann", "review", first, 0)
    report = review.imports.import_decisions("ann")
    assert any("1 decision differs from that in the campaign, which stays" in notice for notice in report.notices)
    assert decisions(review) == {first: "exclude", second: "exclude"}


def test_decisions_of_names_in_other_case_are_of_the_account(review: Campaign, tmp_path: Path) -> None:
    review.people.accounts.add("ann", "annotator")
    review.review.update(screeners=2)
    notes = {1: RAYYAN, 2: 'RAYYAN-INCLUSION: {"ANN"=>"Excluded", "BOB"=>"Maybe"}'}
    review.imports.import_files(documents=[write_ris(tmp_path / "a.ris", notes)])
    review.imports.import_decisions("Ann")
    log = review.store.judgements.table(columns=["annotator", "doc_id", "relevance"]).to_numpy().tolist()
    assert sorted(log) == [
        ["Bob", "10.5555/r.1", 1], ["Bob", "10.5555/r.2", 1], ["ann", "10.5555/r.1", 2], ["ann", "10.5555/r.2", 0],
    ]  # fmt: skip


def test_decisions_that_are_not_understood_are_counted(review: Campaign, tmp_path: Path) -> None:
    table = tmp_path / "team.csv"
    rows = {1: "Accept", 2: "rejected", 3: "top 10", 4: ""}
    table.write_text("title,authors,decision\n" + "".join(f'"{TITLES[n]}",Berg,{said}\n' for n, said in rows.items()))
    review.imports.import_files(documents=[table])
    report = review.imports.import_decisions("ann")
    assert report.notices == ["left out 1 decision that is not understood: 'top 10'"]
    assert sorted(decisions(review).values()) == ["exclude", "include"]
    with Campaign.create(tmp_path / "next", review=Review("Stairs")) as following:
        table.write_text("title,authors,decision\nHeat,Berg,top 10\n")
        following.imports.import_files(documents=[table])
        with pytest.raises(InputError, match="found none, but 'top 10' in columns of decisions; write include"):
            following.imports.import_decisions("ann")


def test_of_decisions_in_several_files_the_highest_counts(review: Campaign, tmp_path: Path) -> None:
    first = write_ris(tmp_path / "a.ris", {1: "ASReview_irrelevant", 2: "ASReview_irrelevant"})
    second = write_ris(tmp_path / "b.ris", {1: "ASReview_relevant"})
    review.imports.import_files(documents=[first, second])
    report = review.imports.import_decisions("ann")
    assert report.notices == []
    assert decisions(review) == {"10.5555/r.1": "include", "10.5555/r.2": "exclude"}


@pytest.mark.parametrize("ending", ["ris", "csv", "bib"])
def test_a_record_excluded_by_full_text_was_included_by_title(review: Campaign, tmp_path: Path, ending: str) -> None:
    review.imports.import_files(documents=[write_ris(tmp_path / "a.ris", {1: "", 2: "", 3: ""})])
    for number, grade in ((1, 2), (2, 0), (3, 1)):
        review.judging.judge("ann", "review", f"10.5555/r.{number}", grade)
    review.judging.judge("ann", "full-text", "10.5555/r.1", 0, answers={REASON: review.settings.reasons()[0]})
    file = tmp_path / f"out.{ending}"
    review.review.report.write_references(file, ("include", "exclude", "maybe"))
    with Campaign.create(tmp_path / "next", review=Review("Stairs")) as following:
        following.imports.import_files(documents=[file])
        following.imports.import_decisions("ann")
        first, second, third = (f"10.5555/r.{number}" for number in (1, 2, 3))
        table = following.review.decisions.table().set_index("doc_id")
        assert table["title_abstract"].to_dict() == {first: "include", second: "exclude", third: "maybe"}
        assert table.loc[first, ["full_text", "reason"]].tolist() == ["exclude", review.settings.reasons()[0]]


COVIDENCE = {1: "Exclusion reason: wrong outcome; ", 2: "Exclusion reason: Adult population; Note: see Fig. 1"}


def test_reasons_of_covidence_exclude_full_texts(review: Campaign, tmp_path: Path) -> None:
    """Covidence asks for reasons at the full-text stage only; a review without this stage excludes by abstract."""
    review.imports.import_files(documents=[write_ris(tmp_path / "a.ris", COVIDENCE)])
    report = review.imports.import_decisions("ann")
    assert report.notices == ["added 1 reason for exclusion to the review: Adult population"]
    assert review.settings.reasons()[-1] == "Adult population"
    assert set(review.review.decisions.table()["title_abstract"]) == {"include"}
    assert review.review.report.prisma().reports_excluded == {"Wrong outcome": 1, "Adult population": 1}
    with Campaign.create(tmp_path / "short", review=Review("Stairs", full_text=False)) as short:
        short.imports.import_files(documents=[tmp_path / "a.ris"])
        short.imports.import_decisions("ann")
        assert decisions(short) == {"10.5555/r.1": "exclude", "10.5555/r.2": "exclude"}


def test_reasons_that_a_review_cannot_have_are_reported(review: Campaign, tmp_path: Path) -> None:
    review.imports.import_files(documents=[write_ris(tmp_path / "a.ris", {1: f"Exclusion reason: {'long ' * 99}"})])
    assert (
        "left out 1 reason for exclusion (too long, or too many)" in review.imports.import_decisions("ann").notices[0]
    )
    assert review.review.report.prisma().reports_excluded == {"": 1}


def test_without_decisions_none_are_imported(review: Campaign, tmp_path: Path) -> None:
    report = review.imports.import_files(documents=[write_ris(tmp_path / "a.ris", {1: "The decision: to include all"})])
    assert not any("screening tool" in notice for notice in report.notices)
    with pytest.raises(InputError, match="found none"):
        review.imports.import_decisions("ann")


def test_labels_of_asreview_and_rayyan_are_decisions_of_a_review(review: Campaign, tmp_path: Path) -> None:
    review.imports.import_files(documents=[write_ris(tmp_path / "a.ris", {1: "", 2: ""})])
    export = tmp_path / "asreview.ris"
    write_ris(export, {1: "ASReview_relevant", 2: "ASReview_irrelevant"})
    review.imports.import_files(labels=export, annotator="ann")
    assert decisions(review) == {"10.5555/r.1": "include", "10.5555/r.2": "exclude"}


IR = re.compile(r"\b(?:document|annotator|judgement|pair|topic|grade|judged|adjudicated)s?\b(?![-\w.]*=)", re.I)


def test_commands_speak_the_words_of_reviewers(review: Campaign, tmp_path: Path) -> None:
    directory, labels = review.directory, tmp_path / "labels.csv"
    file = write_ris(tmp_path / "documents.ris", {1: "", 2: ""})
    labels.write_text(
        "annotator,query_id,doc_id,relevance\nann,review,10.5555/r.1,2\nbob,review,10.5555/r.1,0\n"
        "ann,review,10.5555/r.9,0\n"
    )
    for arguments in (
        ("import", directory, "--documents", file),
        ("import", directory, "--labels", labels),
        ("judge", directory, "--topic", "review", "--doc", "10.5555/r.2", "--annotator", "ann", "--grade", 2),
        ("judge", directory, "--topic", "review", "--doc", "10.5555/r.2", "--annotator", "eve", "--grade", 0,
         "--adjudicate"),
        ("remove", directory, "--document", "10.5555/r.1", "--dry-run"),
        ("status", directory),
        ("review", directory),
    ):  # fmt: skip
        said = run(*arguments)
        assert said.exit_code == 0, said.output
        told = re.sub(r"`[^`]*`|\S*\.ris\b|--\S+", "", said.output)
        assert not IR.search(told), f"{arguments[0]}: {told}"
    judged = ok("judge", directory, "--topic", "review", "--doc", "10.5555/r.2", "--annotator", "eve", "--grade", 0,
                "--adjudicate")  # fmt: skip
    assert judged.startswith("Stage title and abstract, record 10.5555/r.2: final decision, exclude, by eve. ")
