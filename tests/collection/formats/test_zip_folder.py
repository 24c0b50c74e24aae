"""ZIP archives of folders: names that lead out, links, passwords, and archives that expand without end."""

import stat
import zipfile
from pathlib import Path

import pytest

from collection.core.errors import FormatError
from collection.formats import compression, unpack_zip


def archive(path: Path, entries: dict[str, bytes], links: dict[str, str] | None = None) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, content in entries.items():
            zipped.writestr(name, content)
        for name, target in (links or {}).items():
            link = zipfile.ZipInfo(name)
            link.external_attr = (stat.S_IFLNK | 0o777) << 16
            zipped.writestr(link, target)
    return path


def files(folder: Path) -> set[str]:
    return {file.relative_to(folder).as_posix() for file in folder.rglob("*") if not file.is_dir()}


def unpacked(path: Path, folder: Path) -> Path:
    folder.mkdir()
    return unpack_zip(path, folder)


def test_the_only_folder_of_an_archive_is_the_folder(tmp_path: Path) -> None:
    one = archive(
        tmp_path / "one.zip", {"papers/a.txt": b"a", "papers/sub/b.txt": b"b", "__MACOSX/._a": b"", ".x": b""}
    )
    assert files(unpacked(one, tmp_path / "one")) == {"a.txt", "sub/b.txt"}
    two = archive(tmp_path / "two.zip", {"papers/a.txt": b"a", "b.txt": b"b"})
    assert files(unpacked(two, tmp_path / "two")) == {"papers/a.txt", "b.txt"}


def test_nothing_is_written_outside_the_folder(tmp_path: Path) -> None:
    entries = {"../../out.txt": b"x", "/etc/out.txt": b"x", "..\\win.txt": b"x", "a/b.txt": b"x"}
    path = archive(tmp_path / "evil.zip", entries, {"link": "/etc/passwd"})
    folder = unpacked(path, tmp_path / "deep")
    assert files(folder) == {"out.txt", "etc/out.txt", "win.txt", "a/b.txt"}
    assert files(tmp_path) == {"evil.zip", *(f"deep/{name}" for name in files(folder))}


def test_archives_that_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "not.zip").write_bytes(b"PK no archive")
    locked = archive(tmp_path / "locked.zip", {"a.txt": b"a"})
    content = bytearray(locked.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1
    locked.write_bytes(content)
    archive(tmp_path / "bomb.zip", {"a.txt": bytes(1 << 20)})
    cut = archive(tmp_path / "cut.zip", {"a.txt": b"some words" * 100})
    damaged = bytearray(cut.read_bytes())
    damaged[40:60] = b"\xff" * 20
    cut.write_bytes(damaged)
    monkeypatch.setattr(compression, "EXPANDED", 1 << 19)
    for name, message in {
        "not": "a ZIP archive of a folder, found damaged data",
        "locked": "an archive without a password, found an encrypted one",
        "bomb": "at most 0 MiB when unpacked, found 1 MiB",
        "cut": "a ZIP archive of a folder, found damaged data",
    }.items():
        with pytest.raises(FormatError, match=message):
            unpacked(tmp_path / f"{name}.zip", tmp_path / name)
