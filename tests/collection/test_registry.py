"""Registries: what an entry says, and that no other code decides by the name of a member."""

import ast
from collections.abc import Iterator

import pytest

from collection.active_learning.learners import LEARNERS
from collection.adjudication import ADJUDICATION_RULES
from collection.generated_answers import ANSWER_MEASURES
from collection.measures import MEASURES
from collection.pooling import STRATEGIES
from collection.stopping import STOPPING_RULES
from tests.helpers import ROOT

FAMILIES = {
    "collection/measures/": {entry.name for entry in MEASURES},
    "collection/generated_answers/": {entry.name for entry in ANSWER_MEASURES},
    "collection/pooling/": {entry.name for entry in STRATEGIES},
    "collection/active_learning/": {entry.name for entry in LEARNERS},
    "collection/stopping/": {entry.name for entry in STOPPING_RULES},
    "collection/adjudication/": {entry.name for entry in ADJUDICATION_RULES},
}
"""The package of a family -> the names of its members."""

ROLE, SUMMARY, PARAMETER = "a role", "how a measure or test summarises", "a parameter's name, the same in every member"
ALLOWED = {
    ("annotate/card/server/routes.py", "annotator"): ROLE,
    ("annotate/views/account/signin_pages.py", "annotator"): ROLE,
    ("annotate/views/campaign/overview.py", "annotator"): ROLE,
    ("annotate/views/campaign/review_overview.py", "annotator"): ROLE,
    ("collection/charts/intervals.py", "mean"): SUMMARY,
    ("collection/cli/results.py", "mean"): SUMMARY,
    ("collection/comparison/conclusions.py", "mean"): SUMMARY,
    ("collection/comparison/leaderboard.py", "mean"): SUMMARY,
    ("annotate/views/widgets/pickers.py", "annotator"): PARAMETER,
    ("collection/campaign/exports/collection_card.py", "annotator"): PARAMETER,
    ("annotate/views/campaign/pool.py", "depth"): PARAMETER,
    ("collection/campaign/people/pools.py", "budget"): PARAMETER,
    **{
        ("collection/machine_labels/estimated_values.py", name): "the three whose expected value is derived there"
        for name in ("nDCG", "DCG", "P")
    },
    **{
        (f"collection/active_learning/features/{name}.py", "words"): "a block of features"
        for name in ("assembly", "blocks", "files", "matrix", "term_counts")
    },
    ("collection/cli/machine_labels/llm.py", "budget"): "why a run of requests ended",
    ("collection/campaign/machine_labels/llm/label_sets.py", "budget"): "why a run of requests ended",
    ("collection/measures/names.py", "rbp"): "a measure of trec_eval; a pooling strategy has it as a name",
    ("collection/campaign/imports/grade_import.py", "annotator"): "a column of a file of labels",
    ("collection/campaign/answers/label_samples.py", "words"): "what a measure reads, which is no label",
    **{
        ("collection/interfaces/ir_measures_provider.py", name): "a measure of ir_measures"
        for name in (
            "ERR", "ERR_IA", "IPrec", "Judged", "NumRel", "P_IA", "RBP", "RR", "SDCG", "SetF", "StRecall", "alpha_nDCG",
            "nDCG", "nERR_IA",
        )
    },
}  # fmt: skip
"""(file, name) -> why the literal is not the name of a member there."""


def literals(node: ast.AST, constants: dict[str, str]) -> Iterator[str]:
    """The texts of an operand: a literal, a module's constant, or those of a tuple, list or set."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.Name) and node.id in constants:
        yield constants[node.id]
    elif isinstance(node, ast.Tuple | ast.List | ast.Set):
        for element in node.elts:
            yield from literals(element, constants)


def decided(source: str) -> Iterator[str]:
    """The literals by which a module decides: operands of comparisons, patterns, prefixes, keys of its tables."""
    tree = ast.parse(source)
    constants: dict[str, str] = {}
    for statement in tree.body:
        if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is None:
            continue
        value = statement.value
        for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
            if isinstance(target, ast.Name) and isinstance(value, ast.Constant) and isinstance(value.value, str):
                constants[target.id] = value.value
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in ("set", "frozenset"):
            value = value.args[0] if value.args else value
        keys = value.keys if isinstance(value, ast.Dict) else value.elts if isinstance(value, ast.Set) else []
        texts = [text for key in keys if key is not None for text in literals(key, constants)]
        if any(set(texts) <= names for names in FAMILIES.values()):
            yield from texts
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            for operand in (node.left, *node.comparators):
                yield from literals(operand, constants)
        elif isinstance(node, ast.MatchValue):
            yield from literals(node.value, constants)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "startswith":
            for argument in node.args:
                yield from literals(argument, constants)


def named(source: str, file: str) -> set[str]:
    """The members by whose name a file outside their package decides."""
    foreign = set().union(*(names for package, names in FAMILIES.items() if not file.startswith(package)))
    return foreign & set(decided(source))


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('if rule == "knee": ...', {"knee"}),
        ('if rule.name in ("qbcb", "half"): ...', {"qbcb", "half"}),
        ('BEST = "rrf"\nif name != BEST: ...', {"rrf"}),
        ('PROMISES = {"fixed": "a cost"}', {"fixed"}),
        ('DRAWN = frozenset({"uniform", "statap"})', {"uniform", "statap"}),
        ('match name:\n    case "svm": ...', {"svm"}),
        ('if measure.startswith("nDCG"): ...', {"nDCG"}),
        ('LABELS = {"depth": "Depth", "rank": "Rank"}', set()),
        ('def f(strategy="depth"): return strategies[strategy]', set()),
    ],
)
def test_a_decision_by_name_is_found(source: str, found: set[str]) -> None:
    assert named(source, "collection/cli/pool.py") == found
    own = next(package for package, names in FAMILIES.items() if found <= names)
    assert named(source, f"{own}other.py") == set()


@pytest.mark.slow
@pytest.mark.long
def test_no_code_decides_by_the_name_of_a_member() -> None:
    found = {
        (file, name)
        for path in sorted(p for part in ("collection", "annotate") for p in (ROOT / part).rglob("*.py"))
        for file in [path.relative_to(ROOT).as_posix()]
        for name in named(path.read_text(), file)
    }
    assert found == set(ALLOWED), "give the entry a trait, or say in ALLOWED why not"
