"""The demo's documents: docstrings of the installed Python libraries, one document per public name.

The walk follows a list of public namespaces, as importing every module found would run side effects and bring in
private names. The same installed versions always give the same documents in the same order.
"""

from __future__ import annotations

import contextlib
import enum
import importlib
import inspect
import io
import logging
import platform
import re
import sys
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib import metadata
from typing import NamedTuple

from collection.core.errors import UnknownNameError
from collection.core.records import Document

LIBRARIES = ("numpy", "scipy", "pandas", "sklearn", "streamlit", "stdlib")
"""The libraries of the demo; ``stdlib`` is a part of the standard library."""

MIN_CHARACTERS = 80
"""Minimum length of a docstring."""

MAX_SIGNATURE = 90
"""Length at which signatures are cut: a title has one line on a card."""

_NAMES = {
    "numpy": """
        numpy numpy.char numpy.ctypeslib numpy.dtypes numpy.emath numpy.exceptions numpy.fft numpy.lib.array_utils
        numpy.lib.format numpy.lib.introspect numpy.lib.mixins numpy.lib.npyio numpy.lib.scimath numpy.lib.stride_tricks
        numpy.linalg numpy.ma numpy.ma.mrecords numpy.polynomial numpy.polynomial.chebyshev numpy.polynomial.hermite
        numpy.polynomial.hermite_e numpy.polynomial.laguerre numpy.polynomial.legendre numpy.polynomial.polynomial
        numpy.polynomial.polyutils numpy.random numpy.rec numpy.strings numpy.testing numpy.typing
    """,
    # Left out: blas and lapack (hundreds of generated Fortran stubs), fftpack and odr (superseded).
    "scipy": """
        scipy scipy.cluster scipy.cluster.hierarchy scipy.cluster.vq scipy.constants scipy.datasets scipy.differentiate
        scipy.fft scipy.integrate scipy.interpolate scipy.io scipy.io.arff scipy.io.matlab scipy.io.wavfile scipy.linalg
        scipy.linalg.interpolative scipy.ndimage scipy.optimize scipy.optimize.elementwise scipy.signal
        scipy.signal.windows scipy.sparse scipy.sparse.csgraph scipy.sparse.linalg scipy.spatial scipy.spatial.distance
        scipy.spatial.transform scipy.special scipy.stats scipy.stats.contingency scipy.stats.mstats scipy.stats.qmc
        scipy.stats.sampling
    """,
    "pandas": """
        pandas pandas.api.extensions pandas.api.indexers pandas.api.types pandas.api.typing pandas.arrays pandas.errors
        pandas.io.formats.style pandas.plotting pandas.testing pandas.tseries.frequencies pandas.tseries.holiday
        pandas.tseries.offsets
    """,
    "sklearn": """
        sklearn sklearn.base sklearn.calibration sklearn.cluster sklearn.compose sklearn.covariance
        sklearn.cross_decomposition sklearn.datasets sklearn.decomposition sklearn.discriminant_analysis sklearn.dummy
        sklearn.ensemble sklearn.exceptions sklearn.feature_extraction sklearn.feature_extraction.image
        sklearn.feature_extraction.text sklearn.feature_selection sklearn.frozen sklearn.gaussian_process
        sklearn.gaussian_process.kernels sklearn.impute sklearn.inspection sklearn.isotonic sklearn.kernel_approximation
        sklearn.kernel_ridge sklearn.linear_model sklearn.manifold sklearn.metrics sklearn.metrics.cluster
        sklearn.metrics.pairwise sklearn.mixture sklearn.model_selection sklearn.multiclass sklearn.multioutput
        sklearn.naive_bayes sklearn.neighbors sklearn.neural_network sklearn.pipeline sklearn.preprocessing
        sklearn.random_projection sklearn.semi_supervised sklearn.svm sklearn.tree sklearn.utils
        sklearn.utils.class_weight sklearn.utils.extmath sklearn.utils.metadata_routing sklearn.utils.metaestimators
        sklearn.utils.multiclass sklearn.utils.parallel sklearn.utils.random sklearn.utils.sparsefuncs
        sklearn.utils.validation
    """,
    "streamlit": """
        streamlit streamlit.column_config streamlit.components.v1 streamlit.components.v2 streamlit.connections
        streamlit.errors streamlit.testing.v1
    """,
    "stdlib": """
        abc argparse array ast asyncio base64 binascii bisect builtins bz2 calendar cmath codecs collections
        collections.abc colorsys concurrent.futures configparser contextlib contextvars copy csv ctypes dataclasses
        datetime decimal difflib dis doctest email email.message email.mime.text email.policy email.utils enum fileinput
        filecmp fnmatch fractions ftplib functools gc getpass gettext glob graphlib gzip hashlib heapq hmac html
        html.parser http http.client http.cookies http.server imaplib importlib importlib.metadata importlib.resources
        inspect io ipaddress itertools json keyword linecache locale logging logging.config logging.handlers lzma
        mailbox math mimetypes mmap multiprocessing multiprocessing.pool multiprocessing.shared_memory netrc numbers
        operator os os.path pathlib pdb pickle pkgutil platform plistlib poplib pprint profile pstats queue quopri
        random re reprlib runpy sched secrets select selectors shelve shlex shutil signal smtplib socket socketserver
        sqlite3 ssl statistics string struct subprocess sys sysconfig tarfile tempfile textwrap threading time timeit
        tokenize tomllib traceback tracemalloc types typing unicodedata unittest unittest.mock urllib.error urllib.parse
        urllib.request urllib.robotparser uuid venv warnings wave weakref webbrowser wsgiref.simple_server
        xml.dom.minidom xml.etree.ElementTree xml.sax xmlrpc.client zipapp zipfile zipimport zlib zoneinfo
    """,
}
NAMESPACES: dict[str, tuple[str, ...]] = {library: tuple(names.split()) for library, names in _NAMES.items()}
"""Library -> its public namespaces, in the order of the walk."""

# A method of a private base of several public classes is listed at the first of these.
_MAIN_CLASSES = ("pandas.DataFrame.", "pandas.Series.", "pandas.Index.", "scipy.sparse.csr_array.")
_DEPRECATED = re.compile(
    r"\A\W*deprecated\b|^\.\. deprecated::|^deprecated[ ,:]|\A.*\(deprecated"
    r"|^this (function|method|class|module) is (deprecated|obsolete)",
    re.IGNORECASE | re.MULTILINE,
)
_FIRST_SECTION = re.compile(r"^\w[\w ]*\n-{3,}$", re.MULTILINE)
# Text that differs from one start of Python to the next.
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_MAY_VARY = re.compile(r"^.*(?=# may vary$)", re.MULTILINE)
# The same table in many texts of scipy; once scipy is imported, it is written into numpy.sinc too.
_SUPPORT_TABLE = re.compile(
    r"\s*^\*\*Array API Standard Support\*\*.*?^ *See :ref:`dev-arrayapi`[^\n]*\s*", re.DOTALL | re.MULTILINE
)
_PLAIN = (int, float, str, bool, bytes, type(None))


class _Candidate(NamedTuple):
    """A name with a docstring; of several with one text, that with the smallest `preference` is kept."""

    name: str
    kind: str
    text: str
    library: str
    target: Callable[..., object] | None
    borrowed: bool

    @property
    def preference(self) -> tuple[bool, int, int, int, str]:
        main = next((i for i, c in enumerate(_MAIN_CLASSES) if self.name.startswith(c)), len(_MAIN_CLASSES))
        return (self.borrowed, self.name.count("."), main, len(self.name), self.name)


def collect(
    libraries: Sequence[str] = LIBRARIES, progress: Callable[[str, int, int], None] | None = None
) -> Iterator[Document]:
    """Collect the docstrings of `libraries`, alphabetically within each.

    A docstring that several names share appears once, under the shortest name by which a user imports it; an inherited
    method under the class that defines it, or if that is private, under the main public class
    (``pandas.DataFrame.rolling``). Builtins carry no prefix (``str.split``).

    Parameters
    ----------
    libraries
        Members of :data:`LIBRARIES`, or single modules of the standard library (``"json"``).
    progress
        Called as ``progress(library, done, total)`` after each namespace.

    Yields
    ------
    Document
        With ``library``, ``kind`` (function, class, method, module; properties count as methods) and ``version``.

    Raises
    ------
    UnknownNameError
        There is no such library or module.
    """
    # Not a generator itself, so that a wrong name is reported at the call.
    steps: dict[str, str] = {}
    for name in libraries:
        if name in NAMESPACES:
            steps |= dict.fromkeys(NAMESPACES[name], name)
        elif name in NAMESPACES["stdlib"]:
            steps.setdefault(name, "stdlib")
        else:
            raise UnknownNameError("library of the demo", name, [*LIBRARIES, *NAMESPACES["stdlib"]])
    return _walk(steps, progress)


def _walk(steps: dict[str, str], progress: Callable[[str, int, int], None] | None) -> Iterator[Document]:
    candidates: dict[str, _Candidate] = {}
    for done, (namespace, library) in enumerate(steps.items(), start=1):
        # Quiet around one namespace at a time, as progress may print.
        with _quiet():
            for candidate in _namespace(namespace, library):
                key = " ".join(candidate.text.split())
                other = candidates.get(key)
                if other is None or candidate.preference < other.preference:
                    candidates[key] = candidate
        if progress is not None:
            progress(library, done, len(steps))
    # An accessor and a class attribute may have one name and two texts; the first is kept.
    by_name: dict[str, _Candidate] = {}
    for candidate in sorted(candidates.values(), key=lambda c: c.preference):
        by_name.setdefault(candidate.name, candidate)
    libraries = list(dict.fromkeys(steps.values()))
    versions = {library: _version(library) for library in libraries}
    ordered = sorted(by_name.values(), key=lambda c: (libraries.index(c.library), c.name))
    with _quiet():
        titles = [c.name + _signature(c) for c in ordered]
    for candidate, title in zip(ordered, titles, strict=True):
        about = {"library": candidate.library, "kind": candidate.kind, "version": versions[candidate.library]}
        yield Document(candidate.name, title, candidate.text, about)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Suppress warnings, logging and output of libraries that are imported and inspected."""
    before = logging.root.manager.disable
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        logging.disable(logging.CRITICAL)
        try:
            yield
        finally:
            logging.disable(before)


def _namespace(namespace: str, library: str) -> Iterator[_Candidate]:
    """The public names of a module with a docstring, and the methods of its classes."""
    try:
        module = importlib.import_module(namespace)
    except ImportError:
        return  # another version of the library, or an optional part that is not installed
    if text := _text(module.__doc__):
        yield _Candidate(namespace, "module", text, library, None, False)
    prefix = "" if namespace == "builtins" else f"{namespace}."
    listed = getattr(module, "__all__", None)
    for name in sorted(dir(module) if listed is None else listed):
        value = _get(module, name)
        if name.startswith("_") or value is None or isinstance(value, types.ModuleType):
            continue
        if listed is None and not _belongs(value, namespace, library):
            continue  # something that the module itself imported
        yield from _object(prefix + name, value, library)


def _object(name: str, value: object, library: str) -> Iterator[_Candidate]:
    if inspect.isclass(value):
        # The class answers to its own name: numpy.float64, not the shorter alias numpy.double.
        alias = value.__name__ != name.rpartition(".")[2]
        if text := _text(value.__doc__):
            yield _Candidate(name, "class", text, library, value, alias)
        if not alias and not issubclass(value, BaseException | enum.Enum):
            yield from _members(name, value, library)
    elif callable(value):
        own, shared = value.__doc__, type(value).__doc__
        if own == shared:
            # A callable object (st.cache_data): what a user reads is the docstring of the call.
            calls = (inspect.getattr_static(type(value), name, None) for name in ("__call__", "_decorator"))
            own = next((doc for call in calls if _text(doc := getattr(call, "__doc__", None))), own)
        if text := _text(own):
            yield _Candidate(name, "function", text, library, value, own == shared)
    elif type(value).__module__ != "builtins" and not isinstance(value, enum.Enum):
        # An object offered ready made (st.context, numpy.r_): described by its class.
        if text := _text(type(value).__doc__):
            yield _Candidate(name, "class", text, library, None, True)
        if library == "streamlit":
            yield from _members(name, type(value), library)


def _members(name: str, cls: type, library: str) -> Iterator[_Candidate]:
    """Public methods and properties, without those of bases from other libraries."""
    home = _root(cls.__module__)
    seen: set[str] = set()
    for base in cls.__mro__:
        if _root(base.__module__) != home:
            continue
        for member, static in sorted(vars(base).items()):
            if member.startswith("_") or member in seen:
                continue
            seen.add(member)
            if type(static).__name__.endswith("Accessor"):  # pandas.Series.str: a class behind an attribute
                accessor = getattr(cls, member, None)
                if inspect.isclass(accessor):
                    if text := _text(accessor.__doc__):
                        yield _Candidate(f"{name}.{member}", "class", text, library, None, base is not cls)
                    yield from _members(f"{name}.{member}", accessor, library)
                continue
            if inspect.isclass(static):
                continue
            function = static.__func__ if isinstance(static, classmethod | staticmethod) else static
            doc = getattr(function, "__doc__", None)
            if doc != type(function).__doc__ and (text := _text(doc)) and not _marked_deprecated(function):
                target = function if callable(function) else None
                yield _Candidate(f"{name}.{member}", "method", text, library, target, base is not cls)


def _get(module: types.ModuleType, name: str) -> object:
    """The attribute; None if it is missing or deprecated."""
    with warnings.catch_warnings():
        for category in (DeprecationWarning, FutureWarning, PendingDeprecationWarning):
            warnings.simplefilter("error", category)
        try:
            value = getattr(module, name)
        except (AttributeError, ImportError, Warning):
            return None
    return None if _marked_deprecated(value) else value


def _marked_deprecated(value: object) -> bool:
    # Static, as the __getattr__ of some objects answers to every name.
    return inspect.getattr_static(value, "__deprecated__", None) is not None


def _belongs(value: object, namespace: str, library: str) -> bool:
    home = getattr(value if callable(value) else type(value), "__module__", None)
    if not isinstance(home, str):
        return False
    # A library's top-level namespace gathers names from private modules.
    return _root(home) == library if namespace == library else home.lstrip("_") == namespace


def _root(module: str) -> str:
    """Top-level package; a C half (``_csv``) counts as its public one."""
    return module.partition(".")[0].lstrip("_")


def _text(doc: object) -> str:
    """The cleaned docstring; empty if it is missing, too short or about something deprecated."""
    if not isinstance(doc, str):
        return ""
    text = inspect.cleandoc(doc).replace("\0", r"\0")  # Python 3.14 pads with the character itself in base64.b85encode
    if "Array API Standard Support" in text:  # these expressions are slow
        text = _SUPPORT_TABLE.sub("\n\n", text)
    if "# may vary" in text:
        text = _MAY_VARY.sub("...  ", text)
    text = _ADDRESS.sub("", text).strip()
    section = _FIRST_SECTION.search(text)
    head = text[: section.start()] if section else text
    return "" if len(text) < MIN_CHARACTERS or _DEPRECATED.search(head) else text


def _signature(candidate: _Candidate) -> str:
    """Parameter names with plain defaults, without annotations and without objects, whose text may vary."""
    if candidate.target is None:
        return ""
    try:
        parameters = list(inspect.signature(candidate.target).parameters.values())
    except Exception:  # built in C without a signature, or a wrapper that cannot be looked through
        return ""
    if candidate.kind == "method" and parameters and parameters[0].name in ("self", "cls"):
        del parameters[0]
    parts: list[str] = []
    for p in parameters:
        stars = "*" if p.kind is p.VAR_POSITIONAL else "**" if p.kind is p.VAR_KEYWORD else ""
        plain = type(p.default) in _PLAIN and p.default != sys.executable  # a path of this machine
        default = "" if p.default is p.empty else f"={p.default!r}" if plain else "=..."
        parts.append(f"{stars}{p.name}{default}")
        if sum(map(len, parts)) + 2 * len(parts) > MAX_SIGNATURE:
            parts[-1] = "..."
            break
    return f"({', '.join(parts)})"


def _version(library: str) -> str:
    if library == "stdlib":
        return platform.python_version()
    return metadata.version({"sklearn": "scikit-learn"}.get(library, library))
