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
    DEFAULT_FAMILY as DEFAULT_FAMILY,
    Calibration as Calibration,
    calibrate as calibrate,
    calibrate_losses as calibrate_losses,
    choose_family as choose_family,
    choose_setting as choose_setting,
    describe_shortage as describe_shortage,
    required_topics as required_topics,
)
from collection.stopping.risk_control.cost_plan import (
    CalibrationPlan as CalibrationPlan,
    CostRange as CostRange,
    PlanRow as PlanRow,
    costs_from_replays as costs_from_replays,
    costs_from_topics as costs_from_topics,
    estimate_costs as estimate_costs,
    plan as plan,
)
from collection.stopping.risk_control.families import (
    EVERYTHING as EVERYTHING,
    RULE_FAMILIES as RULE_FAMILIES,
    RuleFamily as RuleFamily,
)
from collection.stopping.risk_control.losses import (
    TopicLosses as TopicLosses,
    is_complete as is_complete,
    measure_losses as measure_losses,
)
from collection.stopping.risk_control.transfer import (
    TRANSFER_WARNING as TRANSFER_WARNING,
    TransferCheck as TransferCheck,
    bound_mean as bound_mean,
    check_transfer as check_transfer,
    topics_to_confirm as topics_to_confirm,
)
