"""Qrels, evaluation, agreement, rank comparison, overview."""

from typing import NamedTuple

from collection.campaign.results.agreement import AgreementStudy
from collection.campaign.results.evaluation import Evaluator
from collection.campaign.results.overview import Overview
from collection.campaign.results.qrels import QrelsBuilder


class Results(NamedTuple):
    """Results of judging."""

    qrels: QrelsBuilder
    evaluation: Evaluator
    agreement: AgreementStudy
    overview: Overview
