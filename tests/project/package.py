"""Wheel and sdist: what `make package` builds and checks, and `make try-package` installs and runs.

``python -m tests.project.package dist`` builds both into dist/, compares the bytes with a second build and checks the
contents. With ``--try`` it installs what is in dist/ into empty environments, which downloads the dependencies.
"""

from __future__ import annotations

import argparse
import os
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
PROGRAM = Path(__file__).with_name("user_program.py")
TOOLS = Path(sys.executable).parent
LARGEST = 5_000_000
"""Bytes of a wheel or sdist."""


def build(source: Path, out: Path, umask: int = 0o022) -> tuple[Path, Path]:
    """Build wheel and sdist of a source tree with the installed hatchling, which needs no network."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(out)]
    environment = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    done = subprocess.run(
        command, cwd=source, env=environment, umask=umask, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
    return wheel, sdist


def build_elsewhere(sdist: Path, folder: Path) -> tuple[Path, Path]:
    """Build wheel and sdist from an unpacked sdist: in another folder, with other modes of files and another umask."""
    with tarfile.open(sdist) as archive:
        # Filters came with Python 3.11.4; the archive is our own.
        archive.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    (source,) = folder.iterdir()
    for file in source.rglob("*"):
        file.chmod(0o700 if file.is_dir() else 0o600)
    return build(source, folder / "built", umask=0o077)


def list_wheel(wheel: Path) -> dict[str, int]:
    """The mode of every file of a wheel, by its name."""
    with zipfile.ZipFile(wheel) as archive:
        return {file.filename: stat.S_IMODE(file.external_attr >> 16) for file in archive.infolist()}


def list_sdist(sdist: Path) -> dict[str, int]:
    """The mode of every file of an sdist, by its name without the leading folder."""
    with tarfile.open(sdist) as archive:
        return {str(PurePosixPath(*PurePosixPath(m.name).parts[1:])): m.mode for m in archive if m.isfile()}


def tracked(*folders: str) -> set[str]:
    """Files of the repository, those that are not committed yet included."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *folders]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    return {name for name in listed if name and (ROOT / name).is_file()}


def expected_in_wheel() -> set[str]:
    """The packages, and the demo's data and the documentation without scripts and templates."""
    files = tracked("collection", "annotate")
    for source, target in (("data/demo", "collection/demo/data"), ("docs", "collection/docs")):
        inside = {name.removeprefix(f"{source}/") for name in tracked(source)}
        files |= {f"{target}/{n}" for n in inside if not n.startswith("_") and ("/" in n or not n.endswith(".py"))}
    return files


def problems(wheel: Path, sdist: Path) -> list[str]:
    """What is wrong with the contents of a wheel and an sdist."""
    in_wheel, in_sdist, expected = list_wheel(wheel), list_sdist(sdist), expected_in_wheel()
    files = {name for name in in_wheel if ".dist-info/" not in name}
    found = [f"the wheel lacks {name}" for name in sorted(expected - files)]
    found += [f"the wheel has {name}, which the repository does not have" for name in sorted(files - expected)]
    found += [f"the wheel has a test, {name}" for name in sorted(in_wheel) if _is_test(name)]
    source = tracked()
    found += [
        f"the sdist has {name}, which the repository does not have"
        for name in sorted(in_sdist.keys() - source - {"PKG-INFO"})
    ]
    visible = {name for name in source if not name.startswith(".")}
    found += [f"the sdist lacks {name}" for name in sorted(visible - in_sdist.keys())]
    found += [f"{name} has mode {mode:o}" for name, mode in (in_wheel | in_sdist).items() if mode not in (0o644, 0o755)]
    if not any(name.endswith(".dist-info/licenses/LICENSE") for name in in_wheel):
        found.append("the wheel lacks the licence")
    found += [f"{f.name} has {size:,} bytes" for f in (wheel, sdist) if (size := f.stat().st_size) > LARGEST]
    return found


def _is_test(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return (
        bool({"tests", "golden", "conftest.py"} & set(parts)) or parts[-1].startswith("test_") or ".test." in parts[-1]
    )


def make(out: Path) -> None:
    """Build into a folder, and end with a message if anything is wrong with what was built."""
    shutil.rmtree(out, ignore_errors=True)
    built = build(ROOT, out)
    with tempfile.TemporaryDirectory() as folder:
        again = build_elsewhere(built[1], Path(folder))
        found = [
            f"{a.name}: another build has other bytes"
            for a, b in zip(built, again, strict=True)
            if a.read_bytes() != b.read_bytes()
        ]
    found += problems(*built)
    checked = subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *map(str, built)], check=False)
    for file, names in zip(built, (list_wheel(built[0]), list_sdist(built[1])), strict=True):
        print(f"{file.name}: {file.stat().st_size / 1e6:.1f} MB, {len(names)} files")
    if found or checked.returncode:
        raise SystemExit("\n".join(["The package cannot be published:", *found]))


def install(out: Path) -> None:
    """Install wheel and sdist in every common way, each into an empty environment, and use what is installed."""
    (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
    for way in (_by_pip, _by_uv, _by_pipx):
        _try(f"{way.__name__[4:]} install {wheel.name}", way, wheel)
    _try(f"pip install {sdist.name}", _by_pip, sdist)
    _try(f"uvx --from {wheel.name} cleverdon demo", _by_uvx, wheel)


def _try(title: str, way: Callable[[Path, Path], Path | None], package: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="package ") as name:  # a space, as in many a home directory
        folder, started = Path(name), time.monotonic()
        environment = way(folder, package)
        print(f"{title}: {time.monotonic() - started:.0f} s", flush=True)
        if environment is not None:
            _use(environment, folder / "examples")


def _run(*command: str | Path, cwd: Path | None = None, **variables: str | Path) -> str:
    """Run a command without the variables of the project's own environment; end with its output if it fails."""
    inherited = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment = inherited | {name: str(value) for name, value in variables.items()}
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(
            f"{' '.join(map(str, command))} ended with status {done.returncode}\n{done.stdout}{done.stderr}"
        )
    return done.stdout


def _by_pip(folder: Path, package: Path) -> Path:
    venv.create(folder / "env", with_pip=True)
    _run(folder / "env/bin/pip", "install", "--quiet", package)
    return folder / "env"


def _by_uv(folder: Path, package: Path) -> Path:
    _run(TOOLS / "uv", "venv", "--quiet", "--python", sys.executable, folder / "env")
    _run(TOOLS / "uv", "pip", "install", "--quiet", "--python", folder / "env", package)
    return folder / "env"


def _by_pipx(folder: Path, package: Path) -> Path:
    _run(
        TOOLS / "pipx",
        "install",
        package,
        PIPX_HOME=folder / "home",
        PIPX_BIN_DIR=folder / "bin",
        PIPX_MAN_DIR=folder / "man",
    )
    assert (folder / "bin/cleverdon").exists()
    return folder / "home/venvs/cleverdon"


def _by_uvx(folder: Path, package: Path) -> None:
    made = folder / "demo"
    _run(TOOLS / "uvx", "--python", sys.executable, "--from", package, "cleverdon", "demo", made, "--build-only")
    assert (made / "campaign.db").is_file()


def _use(environment: Path, folder: Path) -> None:
    """Run commands and a Python program in a copy of docs/examples."""
    shutil.copytree(EXAMPLES, folder)
    cleverdon, started = environment / "bin/cleverdon", time.monotonic()
    print(" ", _run(cleverdon, "--version", cwd=folder).strip())
    table = _run(cleverdon, "evaluate", "qrels.txt", "bm25.run", "lsi.run", "-m", "nDCG@10", "-m", "AP", cwd=folder)
    print(" ", table.splitlines()[1], f"({time.monotonic() - started:.1f} s for both commands)")
    _run(environment / "bin/python", PROGRAM, cwd=folder)
    started = time.monotonic()
    _run(cleverdon, "demo", "demo", "--build-only", cwd=folder)
    print(f"  cleverdon demo: {time.monotonic() - started:.0f} s")
    files = [file.stat().st_size for file in environment.rglob("*") if file.is_file() and not file.is_symlink()]
    print(f"  {sum(files) / 1e6:.0f} MB installed", flush=True)


def main() -> None:
    """Build and check, or install, as the command line says."""
    parser = argparse.ArgumentParser(description="Build, check or try the package.")
    parser.add_argument("folder", type=Path, help="folder of wheel and sdist")
    parser.add_argument("--try", dest="install", action="store_true", help="install what is there instead of building")
    options = parser.parse_args()
    (install if options.install else make)(options.folder.resolve())


if __name__ == "__main__":
    main()
