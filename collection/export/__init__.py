"""Exports: qrels of a sampled pool, the card of a collection, training examples."""

from collection.export.facts import (
    of_judging,
    of_pool,
    of_qrels,
    of_recall,
    plain,
    pseudonyms,
    renamed,
    selection_caution,
)
from collection.export.markdown_card import card
from collection.export.strata import of_judged_topics, with_probabilities, with_strata, with_unjudged
from collection.export.training_examples import NEGATIVES
