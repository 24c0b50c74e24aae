"""Recall guaranteed across topics: stopping rules calibrated on a few topics (conformal risk control).

Some topics, drawn at random, are judged completely. They show how much recall every strictness of a stopping rule would
have lost; the least strict setting with (sum of losses + 1) / (n + 1) <= alpha has an expected loss of at most alpha on
any other topic, whatever the model does. Unlike :func:`~collection.stopping.betting`, this limits the mean over topics,
not the loss of each.

ledgers of the calibration topics -measure_losses-> losses and costs at every setting -calibrate-> a setting and its
promise -decide-> whether another topic may stop

>>> from collection.stopping import Ledger
>>> topics = [Ledger.of([True, False, True] + [False] * 97, size=100) for _ in range(9)]
>>> chosen = calibrate(topics, alpha=0.1, families=["consecutive"])
>>> chosen.rule, round(chosen.bound, 3), chosen.cost
('stop after 2 irrelevant documents in a row', 0.1, 5.0)
>>> calibrate(topics[:5], alpha=0.1).report
'An expected recall of 90% needs at least 9 calibration topics, found 5.'

Source: Angelopoulos, Bates, Fisch, Lei & Schuster, "Conformal risk control", ICLR 2024.
"""

from collection.stopping.risk_control.calibration import (
    DEFAULT_FAMILY,
    Calibration,
    calibrate,
    calibrate_losses,
    choose_family,
    choose_setting,
    describe_shortage,
    required_topics,
)
from collection.stopping.risk_control.cost_plan import (
    CalibrationPlan,
    CostRange,
    CostsOf,
    PlanRow,
    costs_from_replays,
    costs_from_topics,
    estimate_costs,
    plan,
)
from collection.stopping.risk_control.families import EVERYTHING, RULE_FAMILIES, RuleFamily
from collection.stopping.risk_control.losses import TopicLosses, is_complete, measure_losses
from collection.stopping.risk_control.transfer import (
    TRANSFER_WARNING,
    TransferCheck,
    bound_mean,
    check_transfer,
    topics_to_confirm,
)
