"""Generated answers on the page Reusability: what happens to a system that joins after the nuggets were made."""

from functools import partial
from typing import Any

import streamlit as st

from annotate.auth import session
from annotate.views.results.answer_comparison import find_labels, pick_labels
from annotate.views.widgets import display, downloads, widgets
from annotate.views.widgets.display import number
from annotate.views.widgets.downloads import downloadable_chart
from annotate.views.widgets.service_cache import cached
from collection.charts import reusability as charts
from collection.core.phrases import count, plural
from collection.formats import to_tsv

MEASURES = ["nugget_vital", "nugget_vital(strict=True)", "nugget_all", "nugget_weighted"]


def draw() -> None:
    """Draw the values of each system with all nuggets, and without those that only its group contributed."""
    answers, labels = session.current().campaign.answers, find_labels()
    left, right = st.columns(2)
    measure = left.selectbox("Measure", MEASURES, key="answer-measure")
    with left:
        label_set = pick_labels(labels)
    alone = right.toggle("Leave out single systems instead of groups by name", False, key="answer-alone")
    with widgets.shown_errors():
        options: dict[str, Any] = {"label_set": label_set or None} | ({"groups": None} if alone else {})
        rows = cached(answers.leave_out, answers.cache_key(), "Leaving out each system in turn")(measure, **options)
        moved = int((rows["moved"] != 0).sum())
        changed = rows["change"].abs()
        st.markdown(
            f"#### {moved:,} of {count(len(rows), 'system')} {plural(moved, 'changes', 'change')} rank if the nuggets "
            "that only one group contributed are left out"
        )
        widgets.metrics({
            "Systems": f"{len(rows):,}", f"Mean change of {measure}": f"{changed.mean():.3f}",
            "Largest change": f"{changed.max():.3f}",
        })  # fmt: skip
        downloadable_chart(
            charts.left_out_chart(rows, measure, "all nuggets", "nuggets", "vital nuggets"),
            "loss",
            f"Mean {measure} of each system with all nuggets, and without those that only its group contributed. A "
            "group contributed a nugget if one of its answers cites a source of it or, without sources, contains it.",
            alt=f"Mean {measure} of each system with and without its own nuggets",
        )
        display.table(
            rows,
            {
                "run": "System",
                "before": number("All nuggets", "%.4f"),
                "after": number("Own nuggets left out", "%.4f"),
                "change": number("Change", "%+.4f"),
                "place_before": number("Rank, all nuggets"),
                "place_after": number("Rank, own left out"),
                "unique": number("Unique nuggets", help="Nuggets that no other group contributed."),
                "relevant": number("Unique vital nuggets"),
                "group": "Group",
            },
            alt="Each system left out",
        )
        widgets.documentation_link("how-to/check-reusability", "How reusability is assessed")
        downloads.offer_results({"left-out.tsv": ("Leave-one-out results (TSV)", partial(to_tsv, rows))})
