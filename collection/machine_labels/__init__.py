"""Machine labels, and their comparison with people's grades.

labels, ranks -describe_labels-> features + people's grades -predict_steps-> probabilities -correct-> CorrectedValues
rank_weights -pair_sizes-> sizes -draw_priorities-> order in which people judge -judged_sample-> JudgedSample
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
