// Drawing: brings the nodes of the card into line with its state. Part of one module: see state.js.

// --------------------------------------------------------------------------------------- drawing

/** Brings the screen up to date. Everything is compared first, so calling it often costs nothing. */
function refresh(state) {
  const item = onScreen(state);
  const pair = drawnAs(item);
  const turned = pair !== (state.clock?.pair ?? null);
  if (turned && state.panel === "reasons") state.panel = null;
  if (turned && state.panel === "note") leaveNote(state);
  if (turned && DOCUMENT_PANELS.has(state.panel)) leaveDocumentPanel(state);
  if (turned && state.notice?.urgent) state.notice = null;
  if (item) item.doc.skipped = false; // it has come round again
  if (item && !item.entry) item.doc.kept = true;
  const { view } = state;
  if (view) {
    if (turned && view.scrolled) { // before the new text, while the layout is still valid
      view.scroller.scrollTop = 0;
      view.scrolled = false;
    }
    renderDocument(state, view, item);
    renderMarks(view, item);
  }
  if (turned) {
    addTime(state);
    restartClock(state, pair);
  }
  if (!view) return;
  applyLooks(state, view);
  renderFlag(state, view, item);
  renderNear(state, view, item);
  renderNotice(state, view);
  renderNote(state, view, item);
  renderFeedback(state, view);
  renderResting(state, view);
  sayAloud(state, item);
  renderRest(state, view, item);
  renderTopic(state, view);
  renderChooser(state, view);
  renderGuidelines(state, view);
  if (turned && item) setTimeout(() => state.view === view && renderProgress(state, view), AFTER_FRAMES); // the document first
  else renderProgress(state, view);
  renderStatus(state, view);
  renderRefused(state, view);
  explain(state);
  renderPanels(state, view);
  renderKeys(state, view);
}

/** Marks the grade that the document on screen has, or had before undo. */
function renderMarks(view, item) {
  const { former = null } = item ?? {};
  const mark = !former ? "" : former.kind === "graded" ? String(former.relevance) : "cannot judge";
  const kind = `${mark}${item?.entry ? "" : " before"}`;
  if (view.drawn.mark === kind) return;
  view.drawn.mark = kind;
  for (const button of view.grades.children) setMark(button, button.dataset.grade === mark, item);
  setMark(view.cannotJudge, mark === "cannot judge", item);
}

/** Whether the open topic is done, as far as is known without asking. */
const doneHere = (state, topic) => Boolean(topic && isDone(state, topic));

/** What is shown when there is no document: title, text, and whether to offer the next topic. */
function restOf(state) {
  const topic = state.byId.get(state.queryId);
  if (isCutOff(state) && !state.exhausted && !doneHere(state, topic)) return [...CUT_OFF, Boolean(topic)];
  if (!state.topics) return [ONE_MOMENT, "Fetching the topics.", false];
  if (!topic) return ["Nothing to judge yet", "Documents appear here after a manager has added topics and a pool, and assigned topics to you.", false];
  const { without_text: withoutText = 0 } = topic;
  if (state.topics.every((each) => isDone(state, each)) && state.topics.some((each) => each.without_text)) {
    return ["All documents with text are judged", "Thank you. The other documents appear here when their texts are imported.", false];
  }
  if (state.topics.every((each) => isDone(state, each))) {
    return ["All documents are judged", "Thank you. Managers can download the qrels on the Export page.", false];
  }
  const { judged, pool } = countOf(state, topic);
  if (state.exhausted && state.budget) {
    const words = state.nextTopic === null
      ? "Thank you. If a manager raises the budget on the Loop page, new documents appear here automatically."
      : "Continue with the next topic.";
    return [state.budget, words, state.nextTopic !== null];
  }
  if (pool === null && state.exhausted && state.problem) {
    return ["The model cannot choose documents", `Trying again every 10 seconds. Error: ${state.problem}`, true];
  }
  if (pool === null && state.exhausted && state.inLoop) {
    const words = "Every document is judged, or another annotator is judging it. Continue with the next topic.";
    return ["Nothing left in this topic", words, true];
  }
  if (pool === null) return [ONE_MOMENT, "The model is choosing the next documents.", false];
  if (!pool && withoutText) return ["No document has text yet", "Documents of this topic appear here when their texts are imported. Continue with the next topic.", true];
  if (!pool) return ["This topic has no pool", "Continue with the next topic.", true];
  if (judged >= pool) {
    const missing = withoutText ? ` ${count(withoutText, "more document has", "more documents have")} no text yet.` : "";
    const words = `Nothing is left for you in this topic.${missing} Continue with the next topic.`;
    return [`Topic done: ${figure(judged)} of ${figure(pool)}`, words, true];
  }
  if (!state.exhausted) return [ONE_MOMENT, "Fetching the next documents.", false];
  if (state.nextTopic !== null) {
    return ["No free document in this topic", "Other annotators are judging the remaining ones. Continue with the next topic.", true];
  }
  return ["No free document right now", "Other annotators are judging the remaining ones. Checking again every 10 seconds.", true];
}

function renderRest(state, view, item) {
  view.grades.classList.toggle("cd-idle", item === null || state.panel === "search"); // they stay where they are, and say that nothing is there
  setHidden(view.rest, item !== null);
  const waiting = !item && state.exhausted && !isDone(state, state.byId.get(state.queryId));
  if (!waiting) {
    clearTimeout(state.askAgain);
    state.askAgain = null;
  } else if (state.askAgain === null) {
    state.askAgain = setTimeout(() => askOnce(state), ASK_AGAIN);
  }
  if (item) return;
  const [title, words, offerNext] = restOf(state);
  setText(view, "restTitle", title);
  setText(view, "restWords", words);
  setHidden(view.restNext, !offerNext || nextUnfinished(state) === null);
}

function askOnce(state) {
  state.askAgain = null;
  state.tried.clear();
  state.due = true;
  pump(state);
  refresh(state);
}

/** An option is drawn by the browser, outside the card's isolation: direction signs are left out there. */
function optionText(state, topic) {
  const { judged, pool } = countOf(state, topic);
  const count = pool === null ? figure(judged) : judged >= pool ? "✓" : `${judged}/${pool}`;
  const title = (topic.title || topic.query_id).replace(/[\u202a-\u202e\u2066-\u2069]/g, "");
  return `${title.length > 40 ? `${title.slice(0, 40)}…` : title} · ${count}`; // the title first: letters that are typed find it
}

function renderTopic(state, view) {
  if (!state.topics) return;
  if (view.drawn.topics !== state.topics) {
    view.drawn.topics = state.topics;
    view.topics.replaceChildren(...state.topics.map((each) => (
      make("option", { value: each.query_id, textContent: forward(optionText(state, each)) }))));
    view.drawn.topic = undefined;
  }
  const topic = state.byId.get(shownTopicId(state));
  if (!topic || view.drawn.topic === topic) return;
  view.drawn.topic = topic;
  const at = state.topics.indexOf(topic);
  view.topics.selectedIndex = at;
  view.previousTopic.disabled = at === 0;
  view.nextTopic.disabled = at === state.topics.length - 1;
  setText(view, "foldTitle", topic.title || topic.query_id);
  setText(view, "topicTitle", topic.title || topic.query_id);
  setText(view, "topicId", `Topic ${cut(topic.query_id, 60)}`);
  setHidden(view.topicId, !topic.title); // without a title the id stands in its place
  setText(view, "description", topic.description ?? "");
  setText(view, "narrative", topic.narrative ?? "");
  setHidden(view.narrativeBlock, !topic.narrative);
  view.need.scrollTop = 0;
}

/** What chooses the documents of a topic in its loop, in the server's words. */
function renderChooser(state, view) {
  const [rule = "", words = ""] = state.inLoop && shownTopicId(state) === state.queryId ? state.chooser : [];
  setHidden(view.chooser, !rule);
  if (!rule) return;
  setText(view, "chooserRule", rule);
  setText(view, "chooserState", words);
}

function renderProgress(state, view) {
  const topic = state.byId.get(shownTopicId(state));
  if (!topic) return;
  for (const [name, count] of [["topic", countOf(state, topic)], ["all", countOf(state, null)]]) {
    const words = count.pool === null ? `${figure(count.judged)} judged` : `${figure(count.judged)} of ${figure(count.pool)}`;
    if (view.drawn[`${name}Count`] === words) continue;
    setText(view, `${name}Count`, words);
    view[`${name}Bar`].parentNode.hidden = count.pool === null;
    view[`${name}Bar`].style.transform = `scaleX(${count.pool ? count.judged / count.pool : 0})`;
  }
  for (const each of new Set([topic, state.byId.get(state.queryId), ...(view.drawn.touched ?? [])])) {
    const option = each && view.topics.options[state.topics.indexOf(each)];
    const words = each && optionText(state, each);
    if (option && option.textContent !== forward(words)) option.textContent = forward(words);
  }
  view.drawn.touched = new Set(outstanding(state).map((item) => state.byId.get(item.judgement.query_id)));
}

function fillButtons(state, view) {
  const key = JSON.stringify([state.scale, state.reasons]);
  if (view.drawn.buttons === key) return;
  view.drawn.buttons = key;
  fillGrades(state, view);
  view.drawn.keys = undefined;
  fillReasons(state, view);
  view.drawn.mark = undefined;
}
