"""The PRISMA 2020 flow diagram as SVG and PNG, from the same layout."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple
from xml.sax.saxutils import escape

from collection.core.characters import for_terminal, one_line
from collection.core.phrases import count, plural
from collection.export.prisma import NO_REASON, PrismaCounts

if TYPE_CHECKING:
    from PIL import Image
    from PIL.ImageFont import FreeTypeFont, ImageFont

WIDTH, MARGIN, GAP, BAR = 700, 8, 26, 24
"""Units of the drawing; at a width of 16 cm the texts have 8.5 points."""
FONT_SIZE, LINE, PADDING, INDENT = 13, 17, 8, 14
SCALE = 3
"""Pixels of the PNG for each unit: 330 dots per inch at a width of 16 cm."""

Kind = Literal["box", "open", "header", "stage", "note"]
_FILLS: dict[Kind, str] = {"box": "#ffffff", "open": "#fff7ed", "header": "#f6cf6a", "stage": "#b7d3ee"}
_EDGES: dict[Kind, str] = {"box": "#1f2933", "open": "#b45309", "header": "#a17c1a", "stage": "#5b86ad"}
_INK, _LINES = "#111111", "#1f2933"
_FONTS = "'Source Sans 3', 'Source Sans Pro', Arial, Helvetica, sans-serif"
_NUMBER = re.compile(r" (?=\(n = )")


class Line(NamedTuple):
    """A line of text, in a box, and how far it is indented."""

    text: str
    indent: float = 0


class Box(NamedTuple):
    """A box with lines of text: an open one has a dashed edge, a stage vertical text, a note no edge."""

    kind: Kind
    x: float
    y: float
    width: float
    height: float
    lines: tuple[Line, ...]


class Arrow(NamedTuple):
    """An arrow that goes straight down or to the right."""

    x: float
    y: float
    to_x: float
    to_y: float


@dataclass
class Layout:
    """Positions of boxes and arrows on a page of :data:`WIDTH`."""

    boxes: list[Box] = field(default_factory=list)
    arrows: list[Arrow] = field(default_factory=list)
    height: float = 0

    def add(self, kind: Kind, x: float, y: float, width: float, texts: Iterable[str]) -> Box:
        """Add a box as high as its texts; blanks before a text indent it."""
        room = (width - 2 * PADDING) * (0.85 if kind == "header" else 1)  # letters of headers are bold
        lines = [line for text in texts for line in _wrap(text, room)]
        box = Box(kind, x, y, width, 2 * PADDING + LINE * len(lines), tuple(lines))
        self.boxes.append(box)
        self.height = max(self.height, y + box.height + MARGIN)
        return box


class _Row(NamedTuple):
    """Texts of a box, of the box beside it, and of that for open records."""

    stage: str
    main: Sequence[str]
    beside: Sequence[str] = ()
    open: Sequence[str] = ()


def lay_out(counts: PrismaCounts) -> Layout:
    """Place the boxes of the diagram for new reviews or, with a number of previous studies, for updated ones."""
    layout = Layout()
    left = MARGIN + BAR + 10
    aside = 0 if counts.previous is None else 150
    column = (WIDTH - MARGIN - left - GAP - bool(aside) * (aside + GAP)) / 2
    x = left + bool(aside) * (aside + GAP)
    x_beside = x + column + GAP
    via = "databases, registers and other methods" if counts.other_methods else "databases and registers"
    new = "new " if aside else ""
    head = layout.add("header", x, MARGIN, WIDTH - MARGIN - x, [f"Identification of {new}studies via {via}"])
    y = top = head.y + head.height + 14
    above: Box | None = None
    stages: dict[str, tuple[float, float]] = {}
    rows = list(_rows(counts))
    for row in rows:
        main = layout.add("box", x, y, column, row.main)
        bottom = main.y + main.height
        y_beside = y
        for kind, texts in (("box", row.beside), ("open", row.open)):
            if texts:
                box = layout.add("open" if kind == "open" else "box", x_beside, y_beside, column, texts)
                if kind == "box":
                    across = y + min(main.height, box.height) / 2
                    layout.arrows.append(Arrow(x + column, across, x_beside, across))
                y_beside = box.y + box.height + 8
                bottom = max(bottom, box.y + box.height)
        if above is not None:
            layout.arrows.append(Arrow(x + column / 2, above.y + above.height, x + column / 2, main.y))
        above = main
        if [each.stage for each in rows].count(row.stage) == 1:
            bottom = max(bottom, y + _width_of(row.stage) + 2 * PADDING)
        stages[row.stage] = (stages.get(row.stage, (y, y))[0], bottom)
        y = bottom + GAP
    if counts.previous is not None and above is not None:
        _add_previous(layout, counts.previous, left, aside, top, above)
    for name, (start, end) in stages.items():
        bar = layout.add("stage", MARGIN, start, BAR, [])
        layout.boxes[-1] = bar._replace(height=end - start, lines=(Line(name),))
        layout.height = max(layout.height, end + MARGIN)
    notes = _notes(counts)
    layout.add("note", MARGIN, layout.height, WIDTH - 2 * MARGIN, notes)
    return layout


def _add_previous(layout: Layout, previous: int, x: float, width: float, y: float, last: Box) -> None:
    layout.add("header", x, MARGIN, width, ["Previous studies"])
    box = layout.add("box", x, y, width, [f"Reports of studies included in previous version of review {_n(previous)}"])
    # Down the left side, then right into the box with the total.
    middle, down = x + width / 2, last.y + last.height / 2
    layout.arrows += [Arrow(middle, box.y + box.height, middle, down), Arrow(middle, down, last.x, down)]


def _rows(counts: PrismaCounts) -> Iterable[_Row]:
    identified = ["Records identified from:"]
    identified += _listed("Databases", counts.databases.items())
    if counts.registers:
        identified += _listed("Registers", counts.registers.items())
    if counts.other_methods:
        identified += _listed("Other methods", counts.other_methods.items())
    removed = ["Records removed before screening:"]
    if counts.previous is not None:
        removed.append(f" Records known from previous version of review {_n(counts.known_from_previous)}")
    duplicates = counts.duplicates + counts.decided_duplicates
    removed.append(f" Duplicate records removed {_n(duplicates)}")
    if counts.decided_duplicates:
        removed.append(f"  of these decided by a person {_n(counts.decided_duplicates)}")
    removed.append(f" Records marked as ineligible by automation tools {_n(counts.not_screened)}")
    yield _Row("Identification", identified, removed)

    undecided = [("Undecided", counts.undecided)]
    excluded = [f"Records excluded {_n(counts.total_excluded)}"]
    first = [("Not screened yet", counts.unscreened), ("Conflicting decisions", counts.conflicts)]
    if not counts.full_text:
        excluded = _with_reasons("Records excluded", counts.excluded.items())
        first += undecided
    yield _Row("Screening", [f"Records screened {_n(counts.screened)}"], excluded, _open(first))
    if counts.full_text:
        yield _Row(
            "Screening",
            [f"Reports sought for retrieval {_n(counts.sought)}"],
            [f"Reports not retrieved {_n(counts.not_retrieved)}"],
        )
        last = [("Not assessed yet", counts.reports_unscreened), ("Conflicting decisions", counts.reports_conflicts)]
        yield _Row(
            "Screening",
            [f"Reports assessed for eligibility {_n(counts.assessed)}"],
            _with_reasons("Reports excluded", counts.reports_excluded.items()),
            _open([*last, *undecided]),
        )
    new = "new " if counts.previous is not None else ""
    studies = [] if counts.studies is None else [f"{new}studies included in review {_n(counts.studies)}".capitalize()]
    yield _Row("Included", [*studies, f"Reports of {new}included studies {_n(counts.included)}"])
    if counts.previous is not None:
        yield _Row("Included", [f"Reports of total included studies {_n(counts.previous + counts.included)}"])


def _n(number: int) -> str:
    return f"(n = {number:,})"


def _listed(name: str, numbers: Iterable[tuple[str, int]]) -> list[str]:
    numbers = list(numbers)
    lines = [f" {name} {_n(sum(n for _, n in numbers))}"]
    return [*lines, *(f"  {_clean(each)} {_n(n)}" for each, n in numbers)]


def _with_reasons(name: str, reasons: Iterable[tuple[str, int]]) -> list[str]:
    """A line with the sum, and one for each reason, if any exclusion has one."""
    ordered = sorted(reasons, key=lambda reason: -reason[1])
    total = f"{name} {_n(sum(n for _, n in ordered))}"
    if all(not reason for reason, _ in ordered):
        return [total]
    return [f"{total}:", *(f" {_clean(reason) or NO_REASON} {_n(n)}" for reason, n in ordered)]


def _open(numbers: Iterable[tuple[str, int]]) -> list[str]:
    lines = [f" {name} {_n(n)}" for name, n in numbers if n]
    return ["Open:", *lines] if lines else []


def _notes(counts: PrismaCounts) -> list[str]:
    notes = []
    if counts.open:
        notes.append(f"Not finished: {count(counts.open, 'record')} without a final decision (dashed boxes).")
    if counts.not_screened:
        notes.append(
            f"Automation tools: records were ranked by active learning, and screening ended before "
            f"{count(counts.not_screened, 'record')} {plural(counts.not_screened, 'was', 'were')} screened."
        )
    if counts.known:
        were = plural(counts.known, "was", "were")
        notes.append(f"{counts.known:,} of the screened records {were} known to be relevant before screening.")
    return [*notes, "After the PRISMA 2020 flow diagram: Page MJ et al. BMJ 2021;372:n71."]


def _clean(text: str) -> str:
    return one_line(for_terminal(text))


def _width_of(text: str) -> float:
    """An upper bound of the width of a text in Arial, DejaVu Sans and Source Sans."""
    return FONT_SIZE * sum(map(_em, text))


@cache
def _em(character: str) -> float:
    if unicodedata.combining(character):
        return 0
    if unicodedata.east_asian_width(character) in "WF":
        return 1
    if character in "ijltfrI.,:;!|'()[]/- ":
        return 0.38
    return 0.95 if character in "mwMW@%&" else 0.75 if character.isupper() else 0.61


def _wrap(text: str, width: float) -> Iterable[Line]:
    """Lines of a text; blanks before it indent all lines, and continuation lines are indented further."""
    start: float = INDENT * (len(text) - len(text.lstrip()))
    line, indent = "", start
    for word in _words(text.strip(), width - start - INDENT):
        if line and _width_of(f"{line} {word}") > width - indent:
            yield Line(line, indent)
            line, indent = word, start + INDENT / 2
        else:
            line = f"{line} {word}" if line else word
    yield Line(line, indent)


def _words(text: str, width: float) -> Iterable[str]:
    """The words of a text, with "(n = 1)" as one word and words that are too long split."""
    for part in _NUMBER.split(text):
        for word in [part] if part.startswith("(n = ") else part.split():
            piece = ""
            for character in word:
                if piece and _width_of(piece + character) > width:
                    yield piece
                    piece = ""
                piece += character
            yield piece


def describe(counts: PrismaCounts) -> str:
    """The diagram in sentences, for screen readers."""
    parts = []
    for row in _rows(counts):
        for texts in (row.main, row.beside, row.open):
            if texts:
                head, *items = (one_line(text) for text in texts)
                listed = "; ".join(item.rstrip(":") for item in items)
                parts.append(f"{head.rstrip(':')}: {listed}." if listed else f"{head}.")
    before = [] if counts.previous is None else [f"Reports in previous version of review {_n(counts.previous)}."]
    return " ".join([*before, *parts, *_notes(counts)])


def draw_svg(counts: PrismaCounts, title: str = "") -> str:
    """Draw the diagram as SVG with real text, a title and a description; `title` is that of the review."""
    layout = lay_out(counts)
    name = "PRISMA 2020 flow diagram" + (f": {_clean(title)}" if title else "")
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{layout.height:g}" '
        f'viewBox="0 0 {WIDTH} {layout.height:g}" role="img" aria-labelledby="prisma-title prisma-desc" '
        f'font-family="{_FONTS}" font-size="{FONT_SIZE}" fill="{_INK}">',
        f'<title id="prisma-title">{escape(name)}</title>',
        f'<desc id="prisma-desc">{escape(describe(counts))}</desc>',
        '<defs><marker id="prisma-head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
        f'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8z" fill="{_LINES}"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{layout.height:g}" fill="#ffffff"/>',
    ]
    for x, y, to_x, to_y in layout.arrows:
        head = "" if _bends(layout, to_x, to_y) else ' marker-end="url(#prisma-head)"'
        parts.append(f'<path d="M{x:g} {y:g}L{to_x:g} {to_y:g}" stroke="{_LINES}" fill="none"{head}/>')
    for box in layout.boxes:
        if box.kind != "note":
            corners = ' rx="4"' if box.kind in ("header", "stage") else ""
            dashes = ' stroke-dasharray="5 3"' if box.kind == "open" else ""
            parts.append(
                f'<rect x="{box.x:g}" y="{box.y:g}" width="{box.width:g}" height="{box.height:g}"{corners} '
                f'fill="{_FILLS[box.kind]}" stroke="{_EDGES[box.kind]}"{dashes}/>'
            )
        for (text, _), (x, y) in zip(box.lines, _anchors(box), strict=True):
            place = f'x="{x:g}" y="{y:g}"'
            if box.kind == "stage":
                place += f' text-anchor="middle" transform="rotate(-90 {x:g} {y:g})"'
            elif box.kind == "header":
                place += ' text-anchor="middle" font-weight="600"'
            parts.append(f"<text {place}>{escape(text)}</text>")
    return "\n".join([*parts, "</svg>\n"])


def _bends(layout: Layout, x: float, y: float) -> bool:
    """Tell whether another arrow starts where this one ends."""
    return any((arrow.x, arrow.y) == (x, y) for arrow in layout.arrows)


def _anchors(box: Box) -> list[tuple[float, float]]:
    """The left end of the baseline of each line; in headers and stages, its middle."""
    base = FONT_SIZE * 0.36  # half the height of a capital
    if box.kind == "stage":
        return [(box.x + box.width / 2 + base, box.y + box.height / 2)]
    first = box.y + PADDING + LINE / 2 + base
    at = box.x + (box.width / 2 if box.kind == "header" else PADDING)
    return [(at + line.indent, first + LINE * row) for row, line in enumerate(box.lines)]


@cache
def _font(weight: int) -> FreeTypeFont | ImageFont:
    """The font of the app, which has Latin, Greek and Cyrillic letters; otherwise Pillow's, which has fewer."""
    from PIL import ImageFont

    app = find_spec("streamlit")
    folder = Path(app.origin).parent / "static" if app is not None and app.origin else Path()
    for path in sorted(folder.glob("static/media/SourceSansVF-Upright*.woff2")):
        font = ImageFont.truetype(path, FONT_SIZE * SCALE)
        font.set_variation_by_axes([weight])
        return font
    return ImageFont.load_default(FONT_SIZE * SCALE)


def draw_png(counts: PrismaCounts, title: str = "") -> bytes:
    """Draw the diagram as PNG, 2,100 pixels wide, with 330 pixels per inch."""
    from PIL import Image, ImageDraw
    from PIL.PngImagePlugin import PngInfo

    layout = lay_out(counts)
    image = Image.new("RGB", (WIDTH * SCALE, round(layout.height * SCALE)), "#ffffff")
    draw = ImageDraw.Draw(image)
    for x, y, to_x, to_y in layout.arrows:
        draw.line([x * SCALE, y * SCALE, to_x * SCALE, to_y * SCALE], fill=_LINES, width=SCALE)
        if not _bends(layout, to_x, to_y):
            back = [(to_x - 8, to_y - 4), (to_x - 8, to_y + 4)]
            if to_x == x:
                back = [(to_x - 4, to_y - 8), (to_x + 4, to_y - 8)]
            draw.polygon([(a * SCALE, b * SCALE) for a, b in [(to_x, to_y), *back]], fill=_LINES)
    for box in layout.boxes:
        if box.kind != "note":
            corners = [value * SCALE for value in (box.x, box.y, box.x + box.width, box.y + box.height)]
            radius = 4 * SCALE if box.kind in ("header", "stage") else 0
            edge = None if box.kind == "open" else _EDGES[box.kind]
            draw.rounded_rectangle(corners, radius, fill=_FILLS[box.kind], outline=edge, width=SCALE)
            if box.kind == "open":
                for line in _dashes(*corners):
                    draw.line(line, fill=_EDGES[box.kind], width=SCALE)
        font = _font(600 if box.kind == "header" else 400)
        for (text, _), (x, y) in zip(box.lines, _anchors(box), strict=True):
            if box.kind == "stage":
                _write_upwards(image, text, font, box)
            else:
                anchor = "ms" if box.kind == "header" else "ls"
                draw.text((x * SCALE, y * SCALE), text, fill=_INK, font=font, anchor=anchor)
    described = PngInfo()
    described.add_itxt("Title", f"PRISMA 2020 flow diagram{': ' if title else ''}{_clean(title)}")
    described.add_itxt("Description", describe(counts))
    file = BytesIO()
    image.save(file, "PNG", dpi=(330, 330), pnginfo=described, optimize=True)
    return file.getvalue()


def _dashes(left: float, top: float, right: float, bottom: float) -> Iterable[tuple[float, float, float, float]]:
    """Lines of 5 units with gaps of 3 along the edge of a box."""
    dash, step = 5 * SCALE, 8 * SCALE
    for start in range(round(left), round(right), step):
        for edge in (top, bottom):
            yield start, edge, min(start + dash, right), edge
    for start in range(round(top), round(bottom), step):
        for edge in (left, right):
            yield edge, start, edge, min(start + dash, bottom)


def _write_upwards(image: Image.Image, text: str, font: FreeTypeFont | ImageFont, box: Box) -> None:
    """Write the name of a stage vertically into its bar."""
    from PIL import Image, ImageDraw

    size = round(box.height * SCALE), round(box.width * SCALE)
    bar = Image.new("RGB", (size[0] - 2 * SCALE, size[1] - 2 * SCALE), _FILLS[box.kind])
    ImageDraw.Draw(bar).text((bar.width / 2, bar.height / 2), text, fill=_INK, font=font, anchor="mm")
    image.paste(bar.rotate(90, expand=True), (round(box.x * SCALE) + SCALE, round(box.y * SCALE) + SCALE))
