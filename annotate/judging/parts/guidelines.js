// The guidelines of the campaign, and the note for the topic on screen (`shownTopicId`). Part of every card.

const NO_GUIDELINES = "This campaign has no guidelines yet.";

/** Fetches the guidelines once per mount; after a failure again when they are opened. */
async function askGuidelines(state) {
  if (state.guidelines.asked) return;
  state.guidelines = { ...state.guidelines, asked: true, trouble: "" };
  let found;
  try {
    const { html, notes } = await post(state, "guidelines", {});
    if (typeof html !== "string" || typeof notes !== "object" || notes === null) throw new Failure(-1);
    found = { asked: true, html, notes: new Map(Object.entries(notes)), trouble: "" };
  } catch (error) {
    found = { ...state.guidelines, asked: false, trouble: `The guidelines could not be loaded: ${causeOf(error)}.` };
  }
  state.guidelines = found;
  if (state.view) renderGuidelines(state, state.view);
}

function openGuidelines(state) {
  if (state.panel === "guidelines") return setPanel(state, null);
  askGuidelines(state);
  return setPanel(state, "guidelines");
}

/** Draws the guidelines, and the topic's note both there and with the topic. */
function renderGuidelines(state, view) {
  const { guidelines } = state;
  const queryId = shownTopicId(state);
  if (view.drawn.guidelines === guidelines && view.drawn.guidelinesOf === queryId) return;
  const note = guidelines.notes.get(queryId) ?? "";
  setText(view, "topicNote", note);
  setHidden(view.topicNoteBlock, !note);
  setText(view, "guidelinesNote", note);
  setHidden(view.guidelinesNoteBlock, !note);
  if (view.drawn.guidelines !== guidelines) {
    const waiting = guidelines.html === null;
    const words = guidelines.trouble || (waiting ? ONE_MOMENT : guidelines.html ? "" : NO_GUIDELINES);
    setText(view, "guidelinesSays", words);
    setHidden(view.guidelinesSays, !words);
    if (view.drawn.guidelinesHtml !== guidelines.html) {
      view.drawn.guidelinesHtml = guidelines.html;
      view.guidelinesText.innerHTML = guidelines.html ?? ""; // made safe by the server: the one place where markup comes in
      view.guidelinesPanel.scrollTop = 0;
    }
  }
  view.drawn.guidelines = guidelines;
  view.drawn.guidelinesOf = queryId;
}
