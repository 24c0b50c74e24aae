"""Help of the command line: sections and summaries, documentation pages in help and errors, completion in shells."""

import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import get_args

import click
import pytest
from click.shell_completion import BashComplete
from click.testing import CliRunner

from collection.cli import main
from collection.cli.help import (
    COMMANDS_PAGE,
    FORMATS_PAGE,
    PAGES,
    SECTIONS,
    _print_usage_error,
    find_page,
    list_commands,
)
from collection.cli.methods import Names
from collection.documentation import list_pages
from tests.helpers import ok, run


def help_at(width: int, *command: str) -> list[str]:
    result = CliRunner().invoke(main, [*command, "--help"], terminal_width=width)
    assert result.exit_code == 0
    return result.stdout.splitlines()


def summary(command: click.Command) -> str:
    """The first paragraph of a command's help, in one line."""
    return " ".join(inspect.cleandoc(command.help or "").partition("\n\n")[0].split())


# --- sections and summaries -----------------------------------------------------------------------------


def test_every_command_is_in_one_section() -> None:
    assert sorted(name for commands in SECTIONS.values() for name in commands) == sorted(main.commands)


def test_no_summary_is_cut_or_wrapped_on_80_columns() -> None:
    lines = help_at(80)
    width = max(map(len, main.commands))
    for name, command in main.commands.items():
        assert f"  {name:<{width}}  {summary(command)}" in lines, name
        assert summary(command).count(". ") == 0, f"{name}: the summary is one sentence"
    assert max(map(len, lines)) <= 80


def test_without_arguments_the_help_leads_to_the_demo() -> None:
    assert ok().splitlines()[:4] == [
        "  Cleverdon builds test collections for information retrieval.",
        "",
        "  Try it:   cleverdon demo",
        "  Read on:  cleverdon docs start/demo",
    ]
    assert ok() == ok("--help")


COMMANDS = list_commands(main)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command(name: str) -> None:
    lines = help_at(80, *name.split())
    assert lines[2] == f"  {summary(COMMANDS[name])}"
    assert max(map(len, lines)) <= 80
    assert lines[-1] == f"  Documentation: cleverdon docs {find_page(name)}"
    text = "\n".join(lines)
    for word in ("INTEGER", "FLOAT", "PATH", "RANGE", "\b", "\\b"):
        assert word not in text
    for option in COMMANDS[name].params:
        if isinstance(option, click.Option):
            assert option.help, option.name
            assert text.count(f"  {option.opts[0]}") >= 1, option.name


def test_examples_keep_their_lines() -> None:
    assert "    cleverdon import DIR --documents docs.jsonl --topics topics.tsv --run runs/" in help_at(80, "import")


def test_options_are_listed_in_sections() -> None:
    lines = help_at(80, "export")
    sections = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert sections == [
        "Qrels:", "Machine labels:", "Adjudication:", "Logs and lists:", "Lists and preferences:", "Collection:",
        "Training data:", "Clicks:", "Options:",
    ]  # fmt: skip


# --- documentation pages --------------------------------------------------------------------------------


def test_errors_name_a_documentation_page(tmp_path: Path) -> None:
    (tmp_path / "wrong.qrels").write_text("1 0 d1 many\n")
    for arguments, page in [
        (("status", tmp_path), "start/your-own-data"),
        (("pool",), "how-to/choose-a-pool"),
        (("compare", "a", "b", "--alpha", "x"), "how-to/evaluate-and-compare"),
        (("compare", "a", "b", "--frontier", "cost"), "how-to/evaluate-and-compare"),
        (("evaluate", tmp_path / "wrong.qrels", tmp_path / "none"), "reference/file-formats"),
        (("unknown",), "reference/command-line"),
    ]:
        result = run(*arguments)
        assert result.exit_code == 2
        assert result.stdout == ""
        assert result.stderr.endswith(f"\nSee `cleverdon docs {page}`.\n"), result.stderr


def test_the_pages_that_are_named_exist() -> None:
    assert {*PAGES.values(), FORMATS_PAGE, COMMANDS_PAGE} <= set(list_pages())


# --- completion in shells -------------------------------------------------------------------------------


def completed(*words: str) -> list[tuple[str, str]]:
    """Type and value of each completion of the last word."""
    *before, incomplete = words
    found = BashComplete(main, {}, "cleverdon", "_CLEVERDON_COMPLETE").get_completions(before, incomplete)
    return [(item.type, item.value) for item in found]


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("sta",), [("plain", "status")]),
        (("evaluate", "--judg"), [("plain", "--judged-only")]),
        (("agreement", "x", "--by", "t"), [("plain", "topics")]),
        (("docs", "how-to/choose-a"), [("plain", "how-to/choose-a-pool")]),
        (("status", ""), [("dir", "")]),
        (("demo", "de"), [("dir", "de")]),
        (("evaluate", "qrels.txt", "ru"), [("file", "ru")]),
        (("import", "c", "--topics", "t"), [("file", "t")]),
        (("loop", "c", "--mode", "loop"), [("plain", "loop"), ("plain", "loop-in-pool")]),
        (("compare", "q", "r", "--test", "w"), [("plain", "wilcoxon")]),
        (("pool", "c", "--strategy", "dep"), [("plain", "depth")]),
        (("export", "c", "--rule", "dawid"), [("plain", "dawid-skene")]),
        (("pool", "c", "--depth", "2", "--depth", "3", "--dry"), [("plain", "--dry-run")]),
    ],
)
def test_completion(words: tuple[str, ...], wanted: list[tuple[str, str]]) -> None:
    assert completed(*words) == wanted


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.slow
def test_the_script_for_each_shell(shell: str) -> None:
    environment = os.environ | {"_CLEVERDON_COMPLETE": f"{shell}_source"}
    command = [Path(sys.executable).with_name("cleverdon")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert f"_CLEVERDON_COMPLETE={shell}_complete" in done.stdout
    assert f"_CLEVERDON_COMPLETE={shell}_source cleverdon" in ok("--help")


@pytest.mark.slow
def test_bash_completes() -> None:
    script = (
        'eval "$(_CLEVERDON_COMPLETE=bash_source cleverdon)"\n'
        "COMP_WORDS=(cleverdon status --for); COMP_CWORD=2; _cleverdon_completion cleverdon; echo ${COMPREPLY[@]}"
    )
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "--format\n", done.stderr


def test_names_in_help_are_those_of_the_library() -> None:
    from collection import statistics
    from collection.active_learning.training_round import EvidenceUse, GradeUse
    from collection.adjudication import ADJUDICATION_RULES
    from collection.campaign.settings.judging_settings import FORMS, TASKS, Long
    from collection.campaign.settings.loop_settings import MODES, ExplanationLevel
    from collection.core.records import Role
    from collection.pooling.depth_pool import TiedRanks
    from collection.preferences import CHOICE_RULES
    from collection.simulation import SCHEDULES

    known = {
        "loop --mode": [*MODES, "campaign"],
        "loop --explain": get_args(ExplanationLevel),
        "loop --evidence": get_args(EvidenceUse),
        "loop --grades": get_args(GradeUse),
        "judging-page --task": TASKS,
        "judging-page --form": FORMS,
        "judging-page --long": get_args(Long),
        "compare --test": [statistics.DEFAULT_TEST, *(entry.name for entry in statistics.TESTS)],
        "compare --correction": [entry.name for entry in statistics.CORRECTIONS],
        "people --role": get_args(Role),
        "export --ties": ADJUDICATION_RULES["majority"].choices["ties"],
        "export --choice-rule": [entry.name for entry in CHOICE_RULES],
        "pool --ties": get_args(TiedRanks),
        "simulate --batch": SCHEDULES,
    }
    listed = {
        f"{name} {option.opts[-1]}": option.type.names
        for name, command in COMMANDS.items()
        for option in command.params
        if isinstance(option.type, Names) and option.type.names and not option.type.family
    }
    assert set(known) <= set(listed)
    for option, names in known.items():
        assert sorted(listed[option]) == sorted(names), option


# --- errors in the command line ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("pool", "c", "--depth", "0"), "--depth: expected 1 or more, found 0"),
        (("serve", "c", "--port", "99999"), "--port: expected 1 to 65535, found 99999"),
        (("pool", "c", "--depth"), "--depth: expected a value, found nothing"),
        (("judge", "c", "--topic", "1"), "expected --doc, found nothing"),
        (("evaluate", "q", "--explian", "1"), "unknown option '--explian'; did you mean '--explain'?"),
        (
            ("judge", "c", "--topic", 1, "--doc", 1, "--annotator", "a", "--grade", "1.5"),
            "--grade: expected a whole number, found '1.5'",
        ),
        (("loop", "c", "--target", "90%"), "--target: expected a number, found '90%'"),
        (("evalute",), "unknown command 'evalute'; did you mean 'evaluate'?"),
        (("--gold",), "unknown option '--gold'"),
        (("people", "c", "--set-role", "ann"), "--set-role: expected 2 values, found fewer"),
        (("compare", "q", "r", "--power", "-1"), "--power: expected a difference above 0, found -1"),
        (("compare", "q", "r", "--depth", "3"), "--depth needs --topic"),
    ],
)
def test_errors_have_one_pattern(arguments: tuple[str, ...], said: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stderr.splitlines()[0] == f"cleverdon: {said}"


def test_an_error_without_a_command_names_the_page_of_all() -> None:
    assert _print_usage_error(click.UsageError("wrong")) == COMMANDS_PAGE


def test_an_empty_folder_is_no_import(tmp_path: Path) -> None:
    ok("new", tmp_path / "campaign")
    (tmp_path / "empty").mkdir()
    result = run("import", tmp_path / "campaign", "--run", tmp_path / "empty")
    assert result.exit_code == 2
    assert f"--run: expected files, found the empty folder {tmp_path / 'empty'}" in result.stderr
