"""`cleverdon labels`: machine labels, apart from judgements."""

from __future__ import annotations

import click

from collection.cli.help import CommandGroup
from collection.cli.machine_labels import label_sets, llm, study


@click.group(cls=CommandGroup)
def labels() -> None:
    """Create machine labels, and compare them with people's grades.

    A language model, a rule or clicks label the pairs. Machine labels are kept apart from judgements: they never count
    in qrels, agreement, progress or recall.
    """


for command in (
    label_sets.list_, llm.llm, label_sets.rule, label_sets.clicks, label_sets.import_, label_sets.vote,
    label_sets.rename, label_sets.declare, study.compare, study.matrix, study.plan, study.ask, study.correct,
    label_sets.delete,
):  # fmt: skip
    labels.add_command(command)
