"""ZIP archives of folders: names that lead out, links, passwords, and archives that expand without end."""

import errno
import shutil
import stat
import zipfile
from pathlib import Path
from random import Random

import pytest

from collection.core.errors import FormatError, StorageError
from collection.formats import compression, unpack_zip


def archive(
    path: Path, entries: dict[str, bytes], links: dict[str, str] | None = None, method: int = zipfile.ZIP_DEFLATED
) -> Path:
    with zipfile.ZipFile(path, "w", method) as zipped:
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
    methods = {"cut": zipfile.ZIP_DEFLATED, "cut_xz": zipfile.ZIP_LZMA, "cut_bz2": zipfile.ZIP_BZIP2}
    for name, method in methods.items():
        cut = archive(tmp_path / f"{name}.zip", {"a.txt": Random(1).randbytes(1000)}, method=method)
        damaged = bytearray(cut.read_bytes())
        damaged[45:65] = b"\xff" * 20
        cut.write_bytes(damaged)
    archive(tmp_path / "twice.zip", {"../a.txt": b"1", "a.txt": b"2"})
    archive(tmp_path / "inside.zip", {"a.txt": b"1", "a.txt/b.txt": b"2"})
    archive(tmp_path / "deep.zip", {"a.txt": b"1", "a.txt/b/c.txt": b"2"})
    archive(tmp_path / "around.zip", {"x/b": b"1", "x": b"2"})
    archive(tmp_path / "long.zip", {f"{'x' * 300}.txt": b"1"})
    monkeypatch.setattr(compression, "EXPANDED", 1 << 19)
    for name, message in {
        "not": "a ZIP archive of a folder, found damaged data",
        "locked": "an archive without a password, found an encrypted one",
        "bomb": "at most 0 MiB when unpacked, found 1 MiB",
        **dict.fromkeys(methods, r"a ZIP archive of a folder, found 'a\.txt', which cannot be unpacked"),
        "twice": r"found 'a\.txt', which cannot be unpacked \(File exists\)",
        "inside": r"found 'a\.txt/b\.txt', which cannot be unpacked \(File exists\)",
        "deep": r"found 'a\.txt/b/c\.txt', which cannot be unpacked",
        "around": r"found 'x', which cannot be unpacked",
        "long": r"found 'xxx.*', which cannot be unpacked",
    }.items():
        with pytest.raises(FormatError, match=message):
            unpacked(tmp_path / f"{name}.zip", tmp_path / name)


def test_a_full_disk_is_no_fault_of_the_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shutil, "copyfileobj", fail)
    with pytest.raises(StorageError, match="free some space"):
        unpacked(archive(tmp_path / "a.zip", {"a.txt": b"a"}), tmp_path / "a")
