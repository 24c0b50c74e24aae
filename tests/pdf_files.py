"""Small PDF files for tests, written by hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def write_pdf(pages: Sequence[str], *, title: str = "", catalog: str = "", more: Iterable[str] = ()) -> bytes:
    """A PDF file with a line of text on each page; '' is a page without text, as of a scan.

    `catalog` stands in the document's dictionary, and `more` are objects from number 4 on.
    """
    more = list(more)
    first = 4 + len(more)
    kids = " ".join(f"{first + 2 * i} 0 R" for i in range(len(pages)))
    objects = [
        f"<</Type/Catalog/Pages 2 0 R{catalog}>>",
        f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        *more,
    ]
    for i, text in enumerate(pages):
        escaped = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        drawn = f"BT /F1 18 Tf 40 300 Td ({escaped}) Tj ET" if text else "0.5 g 40 40 200 200 re f"
        content = f"{first + 2 * i + 1} 0 R"
        resources = "<</Font<</F1 3 0 R>>>>"
        objects.append(f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 420 400]/Contents {content}/Resources{resources}>>")
        objects.append(f"<</Length {len(drawn)}>>stream\n{drawn}\nendstream")
    objects.append(f"<</Title({title})>>")
    body, places = b"%PDF-1.7\n", []
    for number, each in enumerate(objects, start=1):
        places.append(len(body))
        body += f"{number} 0 obj\n{each}\nendobj\n".encode("latin-1")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    trailer = f"<</Root 1 0 R/Info {len(objects)} 0 R/Size {len(objects) + 1}>>"
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer\n{trailer}"
    return body + f"{end}\nstartxref\n{len(body)}\n%%EOF\n".encode("latin-1")


SCRIPT = "/OpenAction<</S/JavaScript/JS(app.alert\\('x'\\))>>"
"""For `catalog`: a script that runs when the file is opened."""
