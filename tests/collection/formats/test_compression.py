"""Compressed files, text in other encodings, and files that hold no text."""

import bz2
import gzip
import io
import json
import lzma
import pickle
import tarfile
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest

from collection.core.errors import FormatError, InputError
from collection.formats import read_documents, read_qrels, read_run, read_topics, write_qrels

TOPICS = "1\twing flów\n2\theat\n"
QRELS = "1 0 d1 1\n1 0 d2 0\n"
LATER = b"3\tshock waves\n"


def by_arrow(data: bytes, name: str) -> bytes:
    written = pa.BufferOutputStream()
    with pa.CompressedOutputStream(written, name) as stream:
        stream.write(data)
    return written.getvalue().to_pybytes()


def zstandard(data: bytes) -> bytes:
    return by_arrow(data, "zstd")


def xz_alone(data: bytes) -> bytes:
    return lzma.compress(data, format=lzma.FORMAT_ALONE)


READ = {
    "bzip2": bz2.compress(TOPICS.encode()),
    "xz": lzma.compress(TOPICS.encode()),
    "lzma": xz_alone(TOPICS.encode()),
    "Zstandard": zstandard(TOPICS.encode()),
    "Zstandard after a frame to skip": b"\x50\x2a\x4d\x18\x04\0\0\0abcd" + zstandard(TOPICS.encode()),
    "LZ4": by_arrow(TOPICS.encode(), "lz4"),
    "UTF-8 with a mark": b"\xef\xbb\xbf" + TOPICS.encode(),
    "UTF-16": TOPICS.encode("utf-16"),
    "UTF-16, big-endian": b"\xfe\xff" + TOPICS.encode("utf-16-be"),
    "UTF-16 without a mark": TOPICS.encode("utf-16-le"),
    "UTF-16, big-endian, without a mark": TOPICS.encode("utf-16-be"),
    "UTF-32": TOPICS.encode("utf-32"),
    "UTF-16 in gzip": gzip.compress(TOPICS.encode("utf-16")),
}


@pytest.mark.parametrize("form", READ)
def test_what_is_read(tmp_path: Path, form: str) -> None:
    (tmp_path / "topics").write_bytes(READ[form])
    assert read_topics(tmp_path / "topics")["title"].tolist() == ["wing flów", "heat"]


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress, zstandard])
def test_parts_that_were_joined(tmp_path: Path, compress: object) -> None:
    assert callable(compress)
    (tmp_path / "topics").write_bytes(compress(TOPICS.encode()) + compress(LATER))
    assert read_topics(tmp_path / "topics")["query_id"].tolist() == ["1", "2", "3"]


def test_xml_in_utf_16(tmp_path: Path) -> None:
    text = '<?xml version="1.0" encoding="UTF-16"?><topics><topic number="1"><title>flów</title></topic></topics>'
    (tmp_path / "topics.xml").write_bytes(text.encode("utf-16"))
    assert read_topics(tmp_path / "topics.xml")["title"].tolist() == ["flów"]


def test_runs_and_qrels(tmp_path: Path) -> None:
    (tmp_path / "a.run.bz2").write_bytes(bz2.compress(b"1 Q0 d1 1 2.0 a\n1 Q0 d2 2 1.0 a\n"))
    assert len(read_run(tmp_path / "a.run.bz2").frame) == 2
    (tmp_path / "b.run.zst").write_bytes(zstandard(b"1 Q0 d1 1 2.0 a\n"))
    assert len(read_run(tmp_path / "b.run.zst").frame) == 1
    (tmp_path / "q.xz").write_bytes(lzma.compress(b"1 0 d1 1\n"))
    assert read_qrels(tmp_path / "q.xz")["doc_id"].tolist() == ["d1"]
    (tmp_path / "q16").write_bytes("1 0 dé 1\n".encode("utf-16"))
    assert read_qrels(tmp_path / "q16")["doc_id"].tolist() == ["dé"]
    with pytest.raises(InputError, match=r"expected a name that ends in \.gz for a compressed file, found 'q\.bz2'"):
        write_qrels(read_qrels(tmp_path / "q.xz"), tmp_path / "q.bz2")


def archive(name: str, text: str) -> bytes:
    with io.BytesIO() as file:
        with zipfile.ZipFile(file, "w") as written:
            written.writestr(name, text)
        return file.getvalue()


def tar() -> bytes:
    with io.BytesIO() as file:
        with tarfile.open(fileobj=file, mode="w:gz") as written:
            member = tarfile.TarInfo("topics.tsv")
            member.size = len(LATER)
            written.addfile(member, io.BytesIO(LATER))
        return file.getvalue()


REFUSED = {
    "7-Zip": (b"7z\xbc\xaf\x27\x1c\0\4", r"a 7-Zip archive; unpack it with `7z x .*/file`$"),
    "RAR": (b"Rar!\x1a\x07\x01\x00", r"a RAR archive; unpack it with `unrar x .*/file`$"),
    "compress": (b"\x1f\x9d\x90\x31", r"a file of compress \(\.Z\); unpack it with `uncompress .*/file`$"),
    "ZIP": (archive("topics.tsv", TOPICS), r"a ZIP archive; unpack it with `unzip .*/file`$"),
    "tar": (tar(), r"a tar archive; unpack it with `tar -xf .*/file`$"),
    "DOCX": (archive("[Content_Types].xml", "<Types/>"), "a file of Microsoft Office; the name of a workbook must end"),
    "DOCX whose parts come in another order": (
        archive("_rels/.rels", "<Relationships/>" * 99),
        "a file of Microsoft Office; the name of a workbook must end",
    ),
    "gzip in gzip": (gzip.compress(gzip.compress(QRELS.encode())), "a compressed file inside a compressed file; un"),
    "xz in gzip": (gzip.compress(lzma.compress(QRELS.encode())), "a compressed file inside a compressed file; unpack"),
    "bzip2 in xz": (lzma.compress(bz2.compress(QRELS.encode())), "a compressed file inside a compressed file; unpack"),
    "Git LFS": (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
        "a Git LFS pointer instead of the file's content; fetch the content with `git lfs pull`",
    ),
    "XLS": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", r"old Microsoft Office \(\.xls, \.doc\); save it as \.xlsx or CSV$"),
    "PDF": (b"%PDF-1.7\n%\xe2\xe3", "a PDF; extract its text$"),
    "Parquet": (b"PAR1\x15\x04\x15", r"a Parquet file; its name must end in \.parquet$"),
    "pickle": (pickle.dumps({"1": "wing"}), "a pickle of Python; write it as JSONL, CSV or Parquet$"),
    "image": (b"\x89PNG\r\n\x1a\n", "found an image$"),
    "half of UTF-16": (QRELS.encode("utf-16")[:-1], r"expected .*not UTF-16: truncated data"),
    "bzip2 cut off": (bz2.compress(QRELS.encode())[:-9], r"damaged data \(Compressed file ended .*; copy it again$"),
    "gzip in Zstandard": (zstandard(gzip.compress(QRELS.encode())), "a compressed file inside a compressed file; un"),
    "Zstandard in gzip": (gzip.compress(zstandard(QRELS.encode())), "a compressed file inside a compressed file; un"),
    "Zstandard cut off": (
        zstandard(QRELS.encode())[:-3],
        r"damaged data \(Truncated compressed stream\); .* copy it again$",
    ),
    "xz cut off": (lzma.compress(QRELS.encode())[:-9], r"damaged data \(Compressed file ended .*; copy it again$"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_refused(tmp_path: Path, kind: str) -> None:
    content, said = REFUSED[kind]
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(FormatError, match=said):
        read_qrels(tmp_path / "file")


@pytest.mark.parametrize("name", ["d.jsonl", "d.parquet", "d.xlsx", "d.csv", "d.ris", "d.xml", "d.bib", "d.jsonl.gz"])
def test_a_pointer_of_git_lfs_is_named_whatever_the_file(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n")
    with pytest.raises(FormatError, match=f"{name}: .* found a Git LFS pointer .*`git lfs pull`"):
        list(read_documents(tmp_path / name))


@pytest.mark.parametrize("doc_id", ["PAR1", "GIF8", "BZh9", "7z", "PK", "Rar!"])
def test_ids_that_begin_like_other_files(tmp_path: Path, doc_id: str) -> None:
    (tmp_path / "q").write_text(f"{doc_id} 0 d1 1\n")
    assert read_qrels(tmp_path / "q")["query_id"].tolist() == [doc_id]


def test_a_file_that_expands_often(tmp_path: Path) -> None:
    line = json.dumps({"doc_id": "d", "text": "boilerplate text of the page " * 300})
    text = "".join(line.replace('"d"', f'"d{n}"') + "\n" for n in range(200)).encode()
    (tmp_path / "big.jsonl.gz").write_bytes(gzip.compress(text))
    assert (tmp_path / "big.jsonl.gz").stat().st_size * 100 < len(text)
    assert sum(1 for _ in read_documents(tmp_path / "big.jsonl.gz")) == 200
