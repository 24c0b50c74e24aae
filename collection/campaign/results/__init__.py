"""Qrels, evaluation, agreement, rank comparison, overview."""

from typing import NamedTuple

from collection.campaign.results.agreement import AgreementStudy
from collection.campaign.results.evaluation import RunEvaluator
from collection.campaign.results.overview import Overview
from collection.campaign.results.qrels import QrelsBuilder


class ResultServices(NamedTuple):
    """ResultServices of judging."""

    qrels: QrelsBuilder
    evaluation: RunEvaluator
    agreement: AgreementStudy
    overview: Overview
