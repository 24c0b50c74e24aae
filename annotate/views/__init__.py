"""The pages: one short script each, and the one list of them."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

_HERE = Path(__file__).parent


def pages() -> dict[str, list[st.Page]]:
    """Every page, by section of the menu; made anew in each script run, as Streamlit wants it."""
    return {
        "": [st.Page(_HERE / "overview.py", title="Overview", icon=":material/home:", default=True)],
        "Judge": [
            st.Page(_HERE / "judge.py", title="Judge", icon=":material/gavel:", url_path="judge"),
            st.Page(
                _HERE / "my_judgements.py",
                title="My judgements",
                icon=":material/history:",
                url_path="my-judgements",
            ),
        ],
        "Build": [
            st.Page(_HERE / "import_files.py", title="Import", icon=":material/upload:", url_path="import"),
            st.Page(_HERE / "pool.py", title="Pool", icon=":material/stacks:", url_path="pool"),
            st.Page(_HERE / "loop.py", title="Loop", icon=":material/autorenew:", url_path="loop"),
        ],
        "Results": [
            st.Page(_HERE / "recall.py", title="Recall", icon=":material/travel_explore:", url_path="recall"),
            st.Page(_HERE / "export.py", title="Export", icon=":material/download:", url_path="export"),
            st.Page(_HERE / "evaluate.py", title="Evaluate", icon=":material/leaderboard:", url_path="evaluate"),
        ],
    }


def signed_out() -> None:
    """What somebody sees who has not come through a sign-in link."""
    st.title("Sign in")
    st.write(
        "Open the sign-in link that `cleverdon serve` printed in the terminal. It works once; "
        "this browser then stays signed in."
    )
    st.write("No link at hand? Start the app again: it prints a new one, and nothing is lost.")
