"""Label sets, their files, and their comparison with people's grades."""

from typing import NamedTuple

from collection.campaign.machine_labels.judges import Judges
from collection.campaign.machine_labels.label_files import LabelFiles
from collection.campaign.machine_labels.label_sets import LabelSets
from collection.campaign.machine_labels.label_study import LabelStudy
from collection.campaign.machine_labels.llm.labels import LlmLabels


class MachineLabelServices(NamedTuple):
    """Labels by models, rules and clicks, which are never judgements."""

    sets: LabelSets
    """The label sets."""
    study: LabelStudy
    """Comparison of the labels with people's grades."""
    judges: Judges
    """Judges side by side, and their votes."""
    files: LabelFiles
    llm: LlmLabels
    """Labels by language models."""
