"""Paired tests, corrections for multiple testing, intervals, effect sizes and power: pure functions over arrays.

>>> from collection.statistics import TESTS, holm
>>> better, worse = [0.12, 0.31, 0.05, 0.22, 0.18, 0.09], [-0.02, 0.01, 0.03, -0.01, 0.02, 0.04]
>>> p = [float(TESTS["paired-t"].function(differences).p) for differences in (better, worse)]
>>> [round(x, 3) for x in p], [round(x, 3) for x in holm(p).tolist()]
([0.009, 0.272], [0.017, 0.272])
"""

from collection.statistics.assumptions import (
    DEFAULT_TEST as DEFAULT_TEST,
    check_suitability as check_suitability,
    choose_test as choose_test,
    smallest_p as smallest_p,
)
from collection.statistics.multiple_testing import (
    CORRECTIONS as CORRECTIONS,
    DEFAULT_CORRECTION as DEFAULT_CORRECTION,
    holm as holm,
    randomised_tukey as randomised_tukey,
)
from collection.statistics.paired_tests import (
    TESTS as TESTS,
    PairedTestResult as PairedTestResult,
    bootstrap as bootstrap,
    effect_size as effect_size,
    mean_interval as mean_interval,
    paired_t as paired_t,
    permutation as permutation,
    wilcoxon as wilcoxon,
)
from collection.statistics.power import (
    compute_detectable as compute_detectable,
    compute_power as compute_power,
    compute_topics_needed as compute_topics_needed,
)
