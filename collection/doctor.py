"""The installation and the machine, as facts that are safe to publish, and what is wrong with them.

The module imports nothing that may be missing or broken. No fact or finding names people, hosts or the content of
anything; paths are written without the home directory and the name of the user.
"""

from __future__ import annotations

import codecs
import getpass
import json
import locale
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from collection.core import layout
from collection.core.characters import one_line
from collection.core.errors import CleverdonError
from collection.core.phrases import cut, join, size
from collection.core.records import Finding

if TYPE_CHECKING:
    from packaging.requirements import Requirement

T = TypeVar("T")

LEAST_FREE_BYTES = 100_000_000
"""A disk with fewer free bytes is a problem."""
REINSTALL = "install Cleverdon again, as `cleverdon docs start/install` describes"
LIBRARY = "collection.campaign"
PROGRAM = (LIBRARY, "annotate.application")
"""Modules that import all others of the library and of the app."""
FOR_DEVELOPERS = {"dev", "tools"}
"""Extras that users have no need of."""
INDIRECT = ("scipy",)
"""Packages that others bring, and on whose versions results may depend."""
IMPORTED_AS = {"scikit-learn": "sklearn", "argon2-cffi": "argon2", "markdown-it-py": "markdown_it", "pillow": "PIL"}
"""Package -> its module, if that has another name."""
SHOWN_VARIABLES = ("LANG", "LC_ALL", "LC_CTYPE", "PYTHONUTF8", "PYTHONIOENCODING", "TERM")
"""Variables of the environment whose values are shown, if they look harmless; of others, no more than the name."""
NAMED_VARIABLES = re.compile(r"(CLEVERDON|DASK|IR_DATASETS|PYTHON|STREAMLIT)_?\w*|TMPDIR|NO_COLOR")
"""Variables of the environment that are named, since they may change what Cleverdon does."""
IMPORT_SECONDS = 180.0
"""Seconds after which an import is said not to end."""
_IMPORTS = """
import importlib, json, os, sys
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
sys.path[:] = json.loads(sys.argv[1])
for name in sys.argv[2:]:
    problem = None
    try:
        importlib.import_module(name)
    except BaseException as error:
        from collection.doctor import describe
        problem = describe(error)
    print(json.dumps([name, problem]), file=answers, flush=True)
"""
"""A program that imports its arguments, but for the first, which is its path, and prints a line for each."""


class Examination(NamedTuple):
    """Facts about a part of the system, and findings."""

    facts: dict[str, Any]
    """Values of JSON; None: unknown."""
    findings: list[Finding]


def examine_machine() -> Examination:
    """Examine the installation, its packages, Python, SQLite, the locale and folders."""
    findings: list[Finding] = []
    parts: dict[str, Callable[[], Any]] = {
        "cleverdon": lambda: _cleverdon(findings),
        "python": _python,
        "system": _system,
        "packages": lambda: _packages(findings),
        "extras": _extras,
        "sqlite": lambda: _sqlite(findings),
        "text": lambda: _text(findings),
        "folders": lambda: _folders(findings),
    }
    facts = {name: attempt(findings, f"the part {name!r} of this machine", part) for name, part in parts.items()}
    facts["not_imported"] = attempt(findings, "the imports", lambda: _imports(facts["packages"] or {}, findings))
    return Examination(facts, findings)


def attempt(findings: list[Finding], what: str, work: Callable[[], T]) -> T | None:
    """Return what the function returns, or None with a finding if it fails: nothing keeps the rest from the report."""
    try:
        return work()
    except Exception as error:
        findings.append(Finding(True, f"{what} cannot be examined: {describe(error)}", "doctor"))
        return None


def describe(error: BaseException) -> str:
    """Say why something failed; the text of an error that may name people or contents is left out."""
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    if isinstance(error, ImportError):
        return f"{type(error).__name__}: {anonymous(str(error))}"
    if isinstance(error, CleverdonError):
        return type(error).__name__
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    code = trace and trace.tb_frame.f_code
    return type(error).__name__ + (f" in {code.co_name}, {Path(code.co_filename).name}" if code else "")


def anonymous(text: str) -> str:
    """Write a message or path in one line without the home directory and the name of the user.

    >>> anonymous(f"{Path.home()}/x.so:  no such file")
    '~/x.so: no such file'
    """
    homes = {os.path.expanduser("~"), os.environ.get("HOME", "")}  # noqa: PTH111 - never fails
    homes |= {os.path.realpath(home) for home in homes if home}
    for home in sorted((home.rstrip("/") for home in homes), key=len, reverse=True):
        if home.count("/") > 0:
            text = re.sub(rf"{re.escape(home)}(?=$|[/\s'\",:;)])", "~", text)
    with suppress(Exception):  # there may be no user
        text = re.sub(rf"(?<=/){re.escape(getpass.getuser())}(?=$|[/\s'\",:;)])", "USER", text)
    return one_line(text)


def _cleverdon(findings: list[Finding]) -> dict[str, Any]:
    import collection

    facts: dict[str, Any] = {"version": collection.__version__, "installed": None, "commit": _commit()}
    try:
        about = metadata.distribution("cleverdon")
        origin = json.loads(about.read_text("direct_url.json") or "{}")
        facts["installed"] = "editable" if origin.get("dir_info", {}).get("editable") else "package"
    except metadata.PackageNotFoundError:
        findings.append(Finding(True, f"Cleverdon runs, but is not installed; {REINSTALL}", "packages"))
    else:
        if about.version != collection.__version__:
            findings.append(
                Finding(True, f"expected Cleverdon {collection.__version__}, found {about.version} among the installed "
                        f"packages; {REINSTALL}", "packages")
            )  # fmt: skip
    app, here = find_spec("annotate"), Path(__file__).parent
    if app is None or not app.origin or Path(app.origin).parent.parent != here.parent:
        other = "none" if app is None else "one of another project"
        findings.append(
            Finding(True, f"expected the package annotate of Cleverdon, found {other}; use a new environment, and "
                    f"{REINSTALL}", "packages")
        )  # fmt: skip
    return facts


def _commit() -> str | None:
    """The commit of a checkout that Cleverdon is run from, with "-dirty" if files were changed; None elsewhere."""
    root = Path(__file__).parent.parent
    with suppress(OSError, subprocess.SubprocessError):
        if (root / ".git").exists():
            command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--exclude=*"]
            return subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout.strip()
    return None


def _python() -> dict[str, Any]:
    return {
        "version": platform.python_version(),
        "implementation": platform.python_implementation(),
        "virtual_environment": sys.prefix != sys.base_prefix,
        "variables": sorted(name for name in os.environ if NAMED_VARIABLES.fullmatch(name)),
    }


def _system() -> dict[str, Any]:
    facts: dict[str, Any] = {"platform": platform.platform(), "distribution": None, "memory": None}
    with suppress(OSError):
        facts["distribution"] = platform.freedesktop_os_release().get("PRETTY_NAME")
    with suppress(ValueError, OSError, AttributeError):
        facts["memory"] = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    has_affinity = hasattr(os, "sched_getaffinity")
    return facts | {"processors": len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count()}


def _requirements() -> Iterator[tuple[Requirement, str]]:
    """The packages that Cleverdon may need here, each with the extra that needs it, or an empty text."""
    from packaging.requirements import Requirement

    extras = set(metadata.metadata("cleverdon").get_all("Provides-Extra") or []) - FOR_DEVELOPERS
    for requirement in map(Requirement, metadata.requires("cleverdon") or []):
        marker = requirement.marker
        extra = next((each for each in ("", *sorted(extras)) if not marker or marker.evaluate({"extra": each})), None)
        if extra is not None:
            yield requirement, extra


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _packages(findings: list[Finding]) -> dict[str, str | None]:
    """Installed versions of packages; of those that only extras need, the installed ones."""
    versions: dict[str, str | None] = {}
    with suppress(metadata.PackageNotFoundError):  # which another finding says
        for requirement, extra in _requirements():
            package, required = requirement.name, requirement.specifier
            version = _version(package)
            if version is None and not extra:
                findings.append(Finding(True, f"the package {package} is not installed; {REINSTALL}", "packages"))
            elif version and not required.contains(version, prereleases=True):
                sentence = f"expected the package {package} {required}, found {version}; {REINSTALL}"
                findings.append(Finding(True, sentence, "packages"))
            if version or not extra:
                versions[package] = version
        versions |= {package: version for package in INDIRECT if (version := _version(package))}
    return versions


def _extras() -> dict[str, bool]:
    """Each extra and whether all packages that it needs are installed."""
    extras: dict[str, bool] = {}
    with suppress(metadata.PackageNotFoundError):
        for requirement, extra in _requirements():
            if extra:
                extras[extra] = extras.get(extra, True) and _version(requirement.name) is not None
    return dict(sorted(extras.items()))


def _imports(packages: dict[str, str | None], findings: list[Finding]) -> list[str]:
    """Import all installed packages, and Cleverdon, and return the modules that cannot be imported."""
    modules = {IMPORTED_AS.get(name, name.replace("-", "_").lower()): name for name in packages if packages[name]}
    problems = {module: problem for module, problem in _import_all([*modules, *PROGRAM]) if problem}
    for module, problem in problems.items():
        if name := modules.get(module):
            sentence = f"the package {name} cannot be imported ({problem}); {REINSTALL}"
        elif problems.keys() <= set(PROGRAM):  # otherwise the packages are the reason
            sentence = f"the module {module} cannot be imported ({problem}); {REINSTALL}"
        else:
            continue
        findings.append(Finding(True, sentence, "packages"))
    return list(problems)


def _import_all(modules: list[str]) -> Iterator[tuple[str, str | None]]:
    """Import modules in order, and yield each with why it cannot be imported, or None.

    Another process imports them, since a broken one may end its process.
    """
    left = modules
    while left:
        command = [sys.executable, "-c", _IMPORTS, json.dumps(sys.path), *left]
        reason = f"the import did not end within {IMPORT_SECONDS:.0f} seconds"
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                timeout=IMPORT_SECONDS, check=False,
            )  # fmt: skip
            output = done.stdout
            reason = f"the import ended Python with status {done.returncode}"
            if done.returncode < 0:
                reason = f"the import ended Python by signal {signal.Signals(-done.returncode).name}"
        except subprocess.TimeoutExpired as error:
            output = error.stdout or b""
        answers = [json.loads(line) for line in output.splitlines() if line.endswith(b"]")]
        for module, problem in answers:
            yield module, problem and cut(anonymous(problem), 300)
        left = left[len(answers) :]
        if left:
            yield left[0], reason
            left = left[1:]


def _sqlite(findings: list[Finding]) -> dict[str, Any]:
    import sqlite3

    tests = {
        "FTS5": "CREATE VIRTUAL TABLE words USING fts5 (word)",
        "JSON": "SELECT value FROM json_each('[1]')",
    }
    features: dict[str, bool | None] = {"FTS5": True, "JSON": True, "WAL": None}
    with closing(sqlite3.connect(":memory:")) as db:
        for name, statement in tests.items():
            try:
                db.execute(statement)
            except sqlite3.Error:
                features[name] = False
    # Write-ahead logs need a file. Where none can be written, another finding says so.
    with (
        suppress(OSError, sqlite3.Error),
        tempfile.TemporaryDirectory(prefix="cleverdon-") as folder,
        closing(sqlite3.connect(Path(folder, "test.db"))) as db,
    ):
        features["WAL"] = db.execute("PRAGMA journal_mode = WAL").fetchone()[0] == "wal"
    if missing := [name for name, present in features.items() if present is False]:
        findings.append(
            Finding(True, f"SQLite {sqlite3.sqlite_version} of this Python lacks {join(missing)}; use a Python with a "
                    f"complete SQLite, then {REINSTALL}", "sqlite")
        )  # fmt: skip
    return {"version": sqlite3.sqlite_version, "features": features}


def _text(findings: list[Finding]) -> dict[str, Any]:
    encodings = {
        "files": locale.getpreferredencoding(False),
        "file_names": sys.getfilesystemencoding(),
        "output": sys.stdout.encoding if sys.stdout is not None else None,
    }
    if other := [name for name, encoding in encodings.items() if encoding and not _is_utf8(encoding)]:
        used = join([f"{encodings[name]} for {name.replace('_', ' ')}" for name in other])
        remedy = "set the environment variable PYTHONUTF8=1, or LC_ALL to a locale of UTF-8 such as C.UTF-8"
        if "PYTHONIOENCODING" in os.environ:
            remedy = "unset the environment variable PYTHONIOENCODING; if that is not enough, " + remedy
        findings.append(Finding(True, f"expected the encoding UTF-8, found {used}; {remedy}", "text"))
    values = {name: os.environ[name] for name in SHOWN_VARIABLES if name in os.environ}
    return encodings | {
        "variables": {
            name: text if re.fullmatch(r"[\w.@:,-]{0,30}", text) else "(hidden)" for name, text in values.items()
        }
    }


def _is_utf8(encoding: str) -> bool:
    try:
        return codecs.lookup(encoding).name == "utf-8"
    except LookupError:
        return False


def _folders(findings: list[Finding]) -> dict[str, Any]:
    facts: dict[str, Any] = {"temporary": None, "current": None}
    requested = os.environ.get("TMPDIR")
    try:
        temporary = Path(tempfile.gettempdir())
    except OSError:
        findings.append(
            Finding(True, "there is no folder for temporary files; name one that you can write in the environment "
                    "variable TMPDIR", "folders")
        )  # fmt: skip
    else:
        facts["temporary"] = {"path": anonymous(str(temporary))} | examine_folder(
            findings, temporary, "the folder for temporary files",
            "name another one in the environment variable TMPDIR",
        )  # fmt: skip
        if requested and Path(requested).resolve() != temporary.resolve():
            findings.append(
                Finding(False, "the folder that the environment variable TMPDIR names cannot be written, so "
                        f"{anonymous(str(temporary))} is used", "folders")
            )  # fmt: skip
    try:
        current = Path.cwd()
    except OSError:
        findings.append(Finding(True, "the current folder does not exist; change to another one with `cd`", "folders"))
    else:
        facts["current"] = examine_folder(
            findings, current, "the current folder", "change to another one before you write files", serious=False
        )
    return facts


def examine_folder(
    findings: list[Finding], folder: Path, what: str, remedy: str, *, serious: bool = True
) -> dict[str, Any]:
    """Examine whether a folder can be written, and the free bytes on its disk."""
    problem = layout.find_write_problem(folder)
    if problem:
        findings.append(Finding(serious, f"{what} cannot be written ({problem}); {remedy}", "folders"))
    free = None
    with suppress(OSError):
        free = shutil.disk_usage(folder).free
        if free < LEAST_FREE_BYTES and not problem:
            findings.append(Finding(serious, f"{what} has only {size(free)} of free space; free some", "folders"))
    return {"writable": problem is None, "free": free}
