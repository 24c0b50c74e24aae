"""The page Nuggets: make nuggets from marked passages, and reconcile the nuggets of several people."""

import streamlit as st

from annotate.auth import session
from annotate.views.answers import nugget_parts, nugget_proposals
from annotate.views.widgets import widgets
from collection.core.phrases import count, plural

now = session.current()
campaign, is_manager = now.outer, now.role == "manager"
st.title(widgets.page_title("nuggets"))
titles = campaign.store.corpus.topics().set_index("query_id")["title"]
topics = list(titles.index) if is_manager else campaign.progress.topics_for(now.annotator)
if not campaign.store.answers.exist():
    widgets.stop_with_next_step("This campaign has no generated answers yet.")
if not topics:
    st.write("No topics are assigned to you yet. Ask a manager of the campaign to assign some.")
    st.stop()

labels = {query_id: widgets.topic_label(query_id, titles[query_id]) for query_id in topics}
query_id = st.selectbox("Topic", topics, format_func=labels.__getitem__, key="nugget-topic")
if message := st.session_state.pop(nugget_parts.MESSAGE, None):
    st.success(message, icon=":material/check:")
only = None if is_manager else now.annotator
listed = campaign.answers.sources.listed(query_id, only)
vital = sum(each.importance == "vital" for each, _ in listed)
owner = "" if is_manager else " by you"
st.markdown(f"#### {count(len(listed), 'nugget')}{owner}, {vital:,} vital")
lacking = sum(not each.importance and each.weight is None for each, _ in listed)
if lacking:
    st.warning(
        f"{count(lacking, 'nugget')} without importance: measures of vital nuggets and weighted measures leave "
        f"{plural(lacking, 'it', 'them')} out. Mark {plural(lacking, 'it', 'them')} vital or okay.",
        icon=":material/priority_high:",
    )
if not is_manager:
    st.caption("Nuggets that a manager merged with nuggets of others are not listed here.")
nugget_parts.draw_list(campaign, query_id, now.annotator, listed, with_makers=is_manager)
nugget_parts.draw_passages(campaign, query_id, now.annotator, only)
nugget_parts.draw_new(campaign, query_id, now.annotator, only)
if is_manager:
    nugget_proposals.draw(campaign, query_id, now.annotator)
    nugget_parts.draw_people(campaign, query_id)
    nugget_parts.draw_reading(campaign, query_id)
    nugget_parts.draw_task(campaign)
