"""Names on pages: what Streamlit, Altair and tables get has no directives, nor changes of the direction of writing."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import altair as alt
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from markdown_it import MarkdownIt

import annotate
from annotate.auth import forms
from annotate.views.campaign.pool_tables import group_minor_runs
from annotate.views.widgets import display, widgets
from collection.charts.intervals import means_chart
from tests.helpers import some, tries

BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
# Streamlit 1.67's frontend replaces these in source and in the text that Markdown gives.
STREAMLIT = re.compile(r":material[/_]\w+:|:streamlit:|:[\w+-]+:|(?:^|\s)(?:<->|->|<-|--|>=|<=|~=)(?:\s|$)")
names = st.lists(
    st.sampled_from([":material/home:", ":streamlit:", ":smile:", ":red[x]", "->", ":", "/", "x", " ", "_", *BIDI]),
    max_size=6,
).map("".join)


def text_of(markdown: str) -> str:
    """The text that Markdown renders."""
    return re.sub("<[^>]*>", "", MarkdownIt("commonmark").render(markdown))


@pytest.mark.slow
@tries(300)
@given(names)
def test_no_name_is_a_directive_of_streamlit(name: str) -> None:
    label = f"**{widgets.plain(name)}:** said"
    assert ":material/" not in label
    said = text_of(widgets.plain(name))
    assert not STREAMLIT.search(said)
    assert not STREAMLIT.search(text_of(label))  # the page's own colon ends no directive of the name
    assert not re.search(f"[{BIDI}]", said)
    shown = " ".join(re.sub(f"[{BIDI}]", "", name).split())
    assert " ".join(re.sub("[\u200b\u2060]", "", said).split()).replace("&lt;", "<").replace("&gt;", ">") == shown


@pytest.mark.parametrize(
    "name", ["bm25 k1=0.9", "12:30 or later", "a: b", "Wings: an introduction", "https", "nDCG@10"]
)
def test_an_ordinary_name_has_no_invisible_characters(name: str) -> None:
    assert not re.search("[\u200b\u2060]", widgets.plain(name))


@pytest.mark.parametrize("name", ["www.example.org", "https://example.org", "a@example.org"])
def test_an_address_is_parted_so_that_it_is_no_link(name: str) -> None:
    assert "\u200b" in widgets.plain(name)


def test_a_table_is_readable_in_cells_labels_and_titles() -> None:
    frame = pd.DataFrame(
        {"run": ["safe_\u202egnp.exe", None], "n\u202e": [1, 2], "kind": pd.Categorical(["a\u202e", "b"])},
        index=["x\u2066", "y"],
    )
    shown = display.readable(frame)
    assert not re.search(f"[{BIDI}]", shown.to_csv())
    assert shown["run"].tolist()[0] == "safe_gnp.exe"
    assert shown["n"].tolist() == [1, 2]
    assert frame.columns.tolist() == ["run", "n\u202e", "kind"]  # what was given stays
    assert frame["run"].iloc[0] == "safe_\u202egnp.exe"


def test_rows_of_two_names_stay_two_rows() -> None:
    shown = display.readable(pd.DataFrame({"value": [1, 2]}, index=["bm25", "bm\u202e25"]))
    assert shown.index.tolist() == ["bm25", r"bm\u202e25"]
    shown.style.apply(lambda row: ["" for _ in row], axis=1).to_html()


def test_a_chart_is_readable_in_data_order_and_titles() -> None:
    rows = pd.DataFrame(
        {"system": ["safe_\u202egnp.exe", "bm25"], "value": [0.5, 0.4], "low": 0.1, "high": 0.9, "standing": "best"}
    )
    chart = display._readable(means_chart(rows, "AP"))
    spec = chart.to_dict()
    assert not re.search(f"[{BIDI}]", json.dumps(spec, ensure_ascii=False))
    assert spec["layer"][0]["encoding"]["y"]["sort"] == ["safe_gnp.exe", "bm25"]
    titled = alt.Chart(rows).mark_point().encode(x=alt.X("value:Q", title="of \u202ea")).properties(title="\u202eb")
    assert not re.search(f"[{BIDI}]", json.dumps(display._readable(titled).to_dict(), ensure_ascii=False))


@pytest.mark.slow
def test_pages_draw_tables_and_charts_through_elements_only() -> None:
    for file in some(Path(annotate.__file__).parent.rglob("*.py")):
        if file.name == "display.py":
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Attribute) and node.attr in ("dataframe", "data_editor", "altair_chart"):
                assert ast.unparse(node.value) == "display", f"{file.name}:{node.lineno}"


def test_the_sign_in_pages_have_no_name_that_reads_as_another() -> None:
    page = bytes(forms.signin("safe_\u202egnp.exe", None).body).decode()
    assert "safe_gnp.exe" in page
    assert not re.search(f"[{BIDI}]", page)


def test_runs_with_few_pairs_share_a_colour() -> None:
    """Up to ten runs have one colour each. Of more runs, nine have one, and the others are summed."""
    growth = pd.DataFrame({"depth": 1, "run": [f"r{n}" for n in range(12)], "pairs": range(1, 13)})
    grouped = group_minor_runs(growth)
    assert grouped.set_index("run")["pairs"].to_dict() == {
        **{f"r{n}": n + 1 for n in range(3, 12)},
        "3 other runs": 6,
    }
    assert group_minor_runs(growth[:10])["run"].tolist() == [f"r{n}" for n in reversed(range(10))]
