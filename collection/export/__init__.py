"""Exports: qrels of a sampled pool, the card of a collection, training examples, the PRISMA diagram of a review."""

from collection.export.facts import (
    describe_judging as describe_judging,
    describe_pool as describe_pool,
    describe_qrels as describe_qrels,
    describe_recall as describe_recall,
    plain as plain,
    pseudonyms as pseudonyms,
    rename_annotators as rename_annotators,
    selection_caution as selection_caution,
)
from collection.export.markdown_card import card as card
from collection.export.prisma import PrismaCounts as PrismaCounts
from collection.export.prisma_diagram import draw_png as draw_png, draw_svg as draw_svg
from collection.export.strata import (
    add_probabilities as add_probabilities,
    add_strata as add_strata,
    add_unjudged as add_unjudged,
    select_judged_topics as select_judged_topics,
)
from collection.export.training_examples import NEGATIVES as NEGATIVES
