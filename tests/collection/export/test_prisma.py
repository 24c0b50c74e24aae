"""The PRISMA 2020 flow diagram: its arithmetic and its drawing."""

import re
from dataclasses import replace
from io import BytesIO
from xml.etree import ElementTree

import pytest
from PIL import Image

from collection.core.errors import InputError
from collection.export import prisma_diagram
from collection.export.prisma import PrismaCounts

LONG = "Keine Übersetzung verfügbar – eine Begründung, die über mehrere Zeilen geht und umbrochen werden muss"

COUNTS = PrismaCounts(
    {"Embase": 1200, "MEDLINE": 900, "<Scopus> & co": 800},
    {"ClinicalTrials.gov": 5},
    {"Citation searching": 7},
    duplicates=500,
    decided_duplicates=22,
    not_screened=1200,
    screened=1110,
    excluded={"": 900, "Wrong population": 40},
    full_text=True,
    sought=160,
    not_retrieved=7,
    assessed=142,
    reports_excluded={"Wrong population": 60, LONG: 30, "": 6},
    included=40,
    undecided=4,
    unscreened=80,
    conflicts=10,
    reports_unscreened=11,
    reports_conflicts=2,
    known=5,
    studies=38,
)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"duplicates": 501}, "2,912 records identified, but the parts are 2,913"),
        ({"sought": 161}, "160 records not excluded, but the parts are 161"),
        ({"not_retrieved": 8}, "160 reports sought, but the parts are 161"),
        ({"undecided": 5}, "44 records included or undecided, but the parts are 45"),
        ({"reports_excluded": {"Wrong population": 97}}, "43 records included or undecided"),
        ({"unscreened": -80, "conflicts": 170}, "unscreened: expected a number of records, found -80"),
        ({"databases": {"Embase": -1}}, "databases: expected"),
        ({"full_text": False}, "without full texts"),
    ],
)
def test_numbers_that_do_not_add_up_are_refused(change: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=re.escape(says)):
        replace(COUNTS, **change)  # type: ignore[arg-type]


def test_the_table_has_every_number() -> None:
    table = COUNTS.table()
    assert table["n"].min() >= 0
    screening = table[table["stage"] == "Screening"].groupby("item", sort=False)["n"].sum()
    assert screening.to_dict() == {
        "Records screened": 1110, "Records excluded": 940, "Records not screened yet": 80,
        "Records with conflicting decisions": 10, "Reports sought for retrieval": 160, "Reports not retrieved": 7,
        "Reports assessed for eligibility": 142, "Reports excluded": 96, "Reports not assessed yet": 11,
        "Reports with conflicting decisions": 2, "Undecided": 4,
    }  # fmt: skip
    assert COUNTS.to_json()["open"] == 107


def texts_of(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_the_drawing_says_every_number_in_real_text() -> None:
    svg = prisma_diagram.draw_svg(COUNTS, "Exercise & falls")
    root = ElementTree.fromstring(svg)
    said = " ".join(texts_of(svg))
    for part in (
        "Databases (n = 2,900)", "<Scopus> & co (n = 800)", "Registers (n = 5)", "ClinicalTrials.gov (n = 5)",
        "Other methods (n = 7)", "Citation searching (n = 7)",
        "Duplicate records removed (n = 522)", "decided by a person (n = 22)", "tools (n = 1,200)",
        "Records screened (n = 1,110)", "Records excluded (n = 940)", "Not screened yet (n = 80)",
        "Conflicting decisions (n = 10)", "Reports sought for retrieval (n = 160)", "Reports not retrieved (n = 7)",
        "Reports assessed for eligibility (n = 142)", "Reports excluded (n = 96)", "Wrong population (n = 60)",
        f"{LONG} (n = 30)", "No reason given (n = 6)", "Undecided (n = 4)", "Studies included in review (n = 38)",
        "Reports of included studies (n = 40)", "Not finished: 107",
    ):  # fmt: skip
        assert part in said, part
    label = root.find("{http://www.w3.org/2000/svg}title")
    described = root.find("{http://www.w3.org/2000/svg}desc")
    assert label is not None
    assert label.text == "PRISMA 2020 flow diagram: Exercise & falls"
    assert described is not None
    assert f"{LONG} (n = 30)" in (described.text or "")
    assert root.attrib["role"] == "img"


def test_an_updated_review_shows_its_previous_studies() -> None:
    new = prisma_diagram.draw_svg(COUNTS)
    assert "previous" not in new.lower()
    update = replace(COUNTS, previous=33, known_from_previous=100, duplicates=400, studies=None)
    said = " ".join(texts_of(prisma_diagram.draw_svg(update)))
    assert "included in previous version of review (n = 33)" in said
    assert "known from previous version of review (n = 100)" in said
    assert "Reports of total included studies (n = 73)" in said


@pytest.mark.parametrize("counts", [COUNTS, replace(COUNTS, previous=3), PrismaCounts({})])
def test_nothing_overlaps_or_sticks_out(counts: PrismaCounts) -> None:
    layout = prisma_diagram.lay_out(counts)
    for place, box in enumerate(layout.boxes):
        assert 0 <= box.x <= prisma_diagram.WIDTH - box.width
        assert 0 <= box.y <= layout.height - box.height
        for other in layout.boxes[:place]:
            beside = other.x + other.width <= box.x or box.x + box.width <= other.x
            assert beside or other.y + other.height <= box.y or box.y + box.height <= other.y, (box, other)


def test_the_picture_has_the_same_layout_and_umlauts() -> None:
    layout, data = prisma_diagram.lay_out(COUNTS), prisma_diagram.draw_png(COUNTS, "Stürze")
    with Image.open(BytesIO(data)) as image:
        scale = prisma_diagram.SCALE
        assert image.size == (prisma_diagram.WIDTH * scale, round(layout.height * scale))
        assert round(image.info["dpi"][0]) == 330
        assert image.info["Title"] == "PRISMA 2020 flow diagram: Stürze"
        picture = image.convert("L")
        for box in layout.boxes:  # every box has ink: its text
            area = [
                round(edge * scale) for edge in (box.x + 3, box.y + 3, box.x + box.width - 3, box.y + box.height - 3)
            ]
            assert picture.crop((area[0], area[1], area[2], area[3])).getextrema()[0] < 100, box
    font = prisma_diagram._font(400)
    missing = bytes(font.getmask("\uffff"))
    assert all(bytes(font.getmask(letter)) != missing for letter in "äéñłşαЖ–≥")


def test_control_characters_of_a_reason_leave_the_drawing_valid() -> None:
    odd = {"a\x00b\x1f\u202e\ud800": 3}
    counts = PrismaCounts({"\x0b": 3}, screened=3, excluded=odd)
    assert "(n = 3)" in " ".join(texts_of(prisma_diagram.draw_svg(counts)))
    assert prisma_diagram.draw_png(counts)
