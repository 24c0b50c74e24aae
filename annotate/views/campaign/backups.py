"""Backups: make, schedule and download them, and check the campaign."""

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.views.widgets import display, downloads, widgets
from annotate.views.widgets.display import number, text, timestamp
from collection.core.phrases import count

LARGEST = 200_000_000  # bytes of a campaign whose backup is made for a browser

campaign = session.current().campaign
backups = campaign.operations.backups

st.title("Backups")
st.write(
    "A backup is one file with everything that judging needs. Keep it as secret as the campaign: it contains password "
    "hashes."
)
widgets.documentation_link("operations/backup", "What a backup contains, and how to restore it")
if problem := backups.problem():
    st.error(widgets.plain(f"The last backup has a problem. {problem}"))

if st.button("Make a backup", type="primary", key="make"):
    with widgets.saving("Backup made."), st.spinner("Making a backup"):
        backups.make()
existing = pd.DataFrame(
    [(each.made_at, each.size, each.path.name) for each in backups.available()], columns=["made_at", "size", "file"]
)
if existing.empty:
    st.write("No backups on the server yet.")
else:
    columns = {"made_at": timestamp("Made (UTC)"), "size": number("Size", "bytes"), "file": text("File", "large")}
    display.table(existing, columns, alt="Backups on the server")
st.caption(
    "Backups are in the folder *backups* of the campaign, on the same disk. Download one, or run "
    "`cleverdon backup DIR --to FOLDER` with a folder on another disk."
)
if backups.campaign_bytes() > LARGEST:
    st.write("This campaign is too large for a download in the browser: run `cleverdon backup DIR FILE` instead.")
else:
    hint = "Excludes the key that signs cookies and the single sign-on settings, so everyone has to sign in again."
    downloads.draw_deferred(lambda opened, path: opened.operations.backups.write(path), "backup.zip", "download", hint)

st.subheader("Automatic backups")
settings = backups.settings()
with st.form("schedule", border=False):
    left, middle, right = st.columns(3)
    every = left.number_input("Hours between backups (0 = none)", 0, 10_000, settings.every_hours, key="every-hours")
    keep = middle.number_input("Number of backups kept", 1, 1000, settings.keep, key="keep")
    days = right.number_input("Maximum age in days (0 = unlimited)", 0, 10_000, settings.keep_days, key="keep-days")
    st.caption("The server makes backups while it runs, and deletes older ones. It always keeps the newest.")
    if st.form_submit_button("Save", key="save"):
        with widgets.saving("Saved."):
            backups.set_settings(every_hours=int(every), keep=int(keep), keep_days=int(days))

st.subheader("Check")
st.caption(
    "Reads the database, runs and images of the campaign and compares their checksums, without changing anything."
)
if st.button("Check the campaign", key="check"):
    with widgets.shown_errors(), st.spinner("Checking"):
        findings = backups.check()
        for finding in findings:
            (st.error if finding.serious else st.info)(widgets.sentence(finding.sentence))
        problems = sum(finding.serious for finding in findings)
        if not problems:
            st.success("No problems.")
        else:
            st.write(f"**{count(problems, 'problem')}.**")
