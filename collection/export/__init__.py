"""Exports: qrels of a sampled pool, the card of a collection, training examples."""

from collection.export.facts import (
    describe_judging,
    describe_pool,
    describe_qrels,
    describe_recall,
    plain,
    pseudonyms,
    rename_annotators,
    selection_caution,
)
from collection.export.markdown_card import card
from collection.export.strata import add_probabilities, add_strata, add_unjudged, select_judged_topics
from collection.export.training_examples import NEGATIVES
