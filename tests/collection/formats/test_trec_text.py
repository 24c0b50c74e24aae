"""TREC's documents in markup."""

import gzip
import json
from pathlib import Path

import pytest

from collection import formats
from collection.core.errors import FormatError
from collection.core.records import Document
from tests.helpers import SHARED

WSJ = """\
<DOC>
<DOCNO> WSJ870324-0001 </DOCNO>
<HL> John Blair Is Near
Accord To Sell Unit </HL>
<DD> 03/24/87</DD>
<TEXT>
   John Blair &amp; Co. said a < b.

   <P>
Second paragraph.
</P>
</TEXT>
</DOC>

<doc><docno>FBIS3-1</docno>
<H3> <TI>      Wings over water </TI></H3>
<F P=100>a tag without end
<TEXT>Flow.</TEXT> <TEXT>More.</TEXT></doc><DOC>
<DOCNO>3</DOCNO>
compact memories
</DOC>
"""


def read(path: Path) -> list[tuple[int, Document]]:
    return list(formats.read_documents(path))


@pytest.mark.parametrize("name", ["docs.trec", "docs.gz"])
def test_documents_of_several_newspapers(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(gzip.compress(WSJ.encode()) if name.endswith(".gz") else WSJ.encode())
    assert read(tmp_path / name) == [
        (1, Document("WSJ870324-0001", "John Blair Is Near Accord To Sell Unit",
                     "John Blair & Co. said a < b.\n\n   \n\nSecond paragraph.", {"dd": "03/24/87"})),
        (15, Document("FBIS3-1", "Wings over water", "Flow.\n\nMore.")),
        (18, Document("3", "", "compact memories")),
    ]  # fmt: skip


GIGAWORD = """<?xml version="1.0"?>
<DOCSTREAM>
<DOC id="AFP_ENG_20050101.0001" type="story" >
<HEADLINE>Asia</HEADLINE>
<TEXT>
<P>One.</P>
</TEXT>
</DOC>
</DOCSTREAM>
"""
GOV = (
    "<DOC>\n<DOCNO>GX1</DOCNO>\n<DOCOLDNO>IA001</DOCOLDNO>\n<DOCHDR>\nhttp://x\n</DOCHDR>\n<HTML><BODY><TR><TD>ten"
    "</TD><TD>houses</TD></TR></BODY></HTML>\n</DOC>\n<DOC>\n<DOCID>2</DOCID>\n<TEXT>Heat.</TEXT></DOC>\n"
)


def test_ids_in_attributes_and_text_of_pages(tmp_path: Path) -> None:
    """Gigaword has the id in an attribute, and an element around all documents."""
    (tmp_path / "a.sgml").write_text(GIGAWORD)
    assert read(tmp_path / "a.sgml") == [(3, Document("AFP_ENG_20050101.0001", "Asia", "One.", {"type": "story"}))]
    (tmp_path / "b.trec").write_text(GOV)
    (_, page), (_, other) = read(tmp_path / "b.trec")
    assert (page.doc_id, page.text and page.text.split(), other.doc_id) == ("GX1", ["ten", "houses"], "2")


BAD = {
    "no id": ("<DOC>\n<TEXT>a</TEXT>\n</DOC>", 1, "a document with its id (<DOCNO>)"),
    "no end": ("<DOC>\n<DOCNO>1</DOCNO>\n", 1, "</DOC> at the end of the document"),
    "no end before the next": ("<DOC>\n<DOCNO>1</DOCNO>\n<DOC>\n</DOC>", 3, "</DOC> before the next <DOC>"),
    "text between": ("<DOC><DOCNO>1</DOCNO></DOC>\nwings\n", 2, "<DOC>, which begins a document, found 'wings'"),
    "text behind": ("<DOC><DOCNO>1</DOCNO></DOC> wings\n", 1, "<DOC>, which begins a document, found 'wings'"),
    "an id twice": (
        "<DOC><DOCNO>1</DOCNO></DOC>\n<DOC><DOCNO>1</DOCNO><TEXT>a</TEXT></DOC>\n",
        2,
        "each document once",
    ),
    "an id with blanks": ("<DOC><DOCNO>1 2</DOCNO></DOC>\n", 1, "an id without blanks"),
}


@pytest.mark.parametrize("case", BAD)
def test_refusals_name_path_and_line(tmp_path: Path, case: str) -> None:
    text, line, said = BAD[case]
    (tmp_path / "docs").write_text(text)
    with pytest.raises(FormatError) as caught:
        read(tmp_path / "docs")
    assert caught.value.line == line
    assert said in str(caught.value)


def test_many_tags_without_end_take_no_longer(tmp_path: Path) -> None:
    (tmp_path / "docs").write_text("<DOC>\n<DOCNO>1</DOCNO>\n<TEXT>" + "<a>" * 50_000 + "flow</TEXT>\n</DOC>\n")
    ((_, document),) = read(tmp_path / "docs")
    assert document.text == "flow"


@pytest.mark.shared
@pytest.mark.slow
def test_a_whole_collection_is_read_back(tmp_path: Path) -> None:
    with gzip.open(SHARED / "data" / "vaswani" / "documents.jsonl.gz", "rt") as file:
        documents = [json.loads(line) for line in file]
    with (tmp_path / "vaswani.trec").open("w") as out:
        out.writelines(f"<DOC>\n<DOCNO>{d['docno']}</DOCNO>\n{d['text']}\n</DOC>\n" for d in documents)
    found = [(d.doc_id, d.text) for _, d in read(tmp_path / "vaswani.trec")]
    assert len(found) == 11_429
    assert found == [(d["docno"], d["text"].strip()) for d in documents]
