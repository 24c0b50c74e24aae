// Drawing: brings the nodes of the card into line with its state. Part of one module: see state.js.

// --------------------------------------------------------------------------------------- drawing

/** Brings the screen up to date. Everything is compared first, so calling it often costs nothing. */
function refresh(state) {
  const item = onScreen(state);
  const pair = item && pairOf(item.queryId, item.doc.doc_id) + (item.entry ? "\u0000back" : "");
  const turned = pair !== (state.clock?.pair ?? null);
  if (turned && state.panel === "reasons") state.panel = null;
  if (turned && state.panel === "note") leaveNote(state);
  if (turned && state.notice?.urgent) state.notice = null;
  if (item) item.doc.skipped = false; // it has come round again
  if (item && !item.entry) item.doc.kept = true;
  const { view } = state;
  if (view) {
    if (turned && view.scrolled) { // before the new text, while the layout is still valid
      view.scroller.scrollTop = 0;
      view.scrolled = false;
    }
    renderDocument(view, item?.doc ?? null, state.textCap);
    renderMarks(view, item);
  }
  if (turned) restartClock(state, pair);
  if (!view) return;
  renderNotice(state, view);
  renderNote(state, view, item);
  renderFeedback(state, view);
  renderRest(state, view, item);
  renderTopic(state, view);
  renderGuidelines(state, view);
  renderProgress(state, view);
  renderStatus(state, view);
  renderRefused(state, view);
  explain(state);
  renderPanels(state, view);
}

function setText(view, part, text) {
  if (view.drawn[part] === text) return;
  view.drawn[part] = text;
  view[part].textContent = forward(text);
}

/** Text without the signs that turn all that follows round; one of no width for each, so that places stay. */
const forward = (text) => text.replace(/[\u202D\u202E]/g, "\u2060");

function setHidden(node, hidden) {
  if (node.hidden !== hidden) node.hidden = hidden;
}

const figure = (number) => number.toLocaleString("en");

function renderDocument(view, doc, cap) {
  setHidden(view.document, doc === null);
  if (!doc) return;
  const missing = doc.text === null || doc.text === undefined;
  setText(view, "text", missing ? "" : doc.text);
  setText(view, "title", nameOf(doc));
  setText(view, "docId", doc.doc_id);
  setHidden(view.docId, !doc.title); // without a title the id stands in its place
  setHidden(view.calibration, !doc.calibration);
  setHidden(view.missing, !missing);
  setHidden(view.more, missing || !doc.truncated);
  if (doc.truncated) {
    setText(view, "showAll", `Show all (${figure(doc.length)} characters)`);
    setText(view, "cap", cap ? `The first ${figure(cap)} characters are shown.` : "");
  }
  if (view.drawn.doc !== doc) renderChips(view, doc);
  view.drawn.doc = doc;
}

/** The chips of the last document are used again for the next. */
function renderChips(view, doc) {
  const entries = Object.entries(doc.metadata ?? {}).filter(([, value]) => value !== null && value !== "");
  const { children } = view.chips;
  for (let i = 0; i < Math.max(children.length, Math.min(entries.length, CHIPS)); i += 1) {
    const chip = children[i] ?? view.chips.appendChild(make("span", { className: "cd-chip cd-apart", dir: "auto" }));
    const [key, value] = i < CHIPS ? entries[i] ?? [] : [];
    const words = key === undefined ? "" : `${key}: ${typeof value === "string" ? value : JSON.stringify(value)}`;
    chip.hidden = key === undefined;
    chip.title = words.slice(0, 1000);
    chip.textContent = forward(words.slice(0, 200)); // a line of it; the style sheet ends it with an ellipsis
  }
}

/** Marks the grade that the document on screen has, or had before it was taken back. */
function renderMarks(view, item) {
  const { former = null } = item ?? {};
  const mark = !former ? "" : former.kind === "graded" ? String(former.relevance) : "cannot judge";
  const kind = `${mark}${item?.entry ? "" : " before"}`;
  if (view.drawn.mark === kind) return;
  view.drawn.mark = kind;
  for (const button of view.grades.children) setMark(button, button.dataset.grade === mark, item);
  setMark(view.cannotJudge, mark === "cannot judge", item);
}

function setMark(button, marked, item) {
  button.setAttribute("aria-pressed", String(marked));
  button.classList.toggle("cd-former", marked && !item.entry);
}

function renderNotice(state, view) {
  const { title = "", words = "", urgent = false } = state.notice ?? {};
  setText(view, "noticeTitle", title.length > 200 ? `${title.slice(0, 200)} …` : title);
  setText(view, "noticeWords", words);
  view.notice.classList.toggle("cd-urgent", urgent);
}

/** What stands in place of a document when there is none: title, words and whether to offer the next topic. */
function restOf(state) {
  const topic = state.byId.get(state.queryId);
  if (!state.topics) return [ONE_MOMENT, "The topics are being fetched.", false];
  if (!topic) return ["Nothing to judge yet", "Documents appear here once topics and a pool are made, and once topics are assigned to you.", false];
  if (state.topics.every((each) => isDone(state, each))) {
    return ["Everything in the pool is judged", "Thank you. What is settled from all judgements is written as qrels on the Export page.", false];
  }
  const { judged, pool } = countOf(state, topic);
  if (pool === null && state.exhausted && state.problem) {
    return ["The model cannot choose documents just now", `Asking again every 10 seconds. It says: ${state.problem}`, true];
  }
  if (pool === null && state.exhausted && state.inLoop) {
    const words = "Each document is judged, or another annotator holds it. Go on with the next topic when you like.";
    return ["Nothing is left in this topic", words, true];
  }
  if (pool === null) return [ONE_MOMENT, "The model is choosing the next documents.", false];
  if (!pool) return ["Nothing is pooled for this topic", "Go on with the next one.", true];
  if (judged >= pool) {
    const words = "No pair of it wants a judgement of yours any more. Go on with the next topic when you like.";
    return [`Topic done: ${figure(judged)} of ${figure(pool)}`, words, true];
  }
  if (!state.exhausted) return [ONE_MOMENT, "The next documents are being fetched.", false];
  return [
    "No document is free just now",
    "Other annotators hold what is left of this topic. Asking again every 10 seconds.", true,
  ];
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
  state.due = true;
  pump(state);
  refresh(state);
}

/** An option is drawn by the browser, outside the card's isolation: direction signs are left out there. */
function optionText(state, topic) {
  const { judged, pool } = countOf(state, topic);
  const count = pool === null ? `${figure(judged)} ·` : judged >= pool ? "✓" : `${judged}/${pool}`;
  const title = (topic.title || topic.query_id).replace(/[\u202a-\u202e\u2066-\u2069]/g, "");
  return `${count}  ${title.length > 80 ? `${title.slice(0, 80)} …` : title}`;
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
  setText(view, "description", topic.description ?? "");
  setText(view, "narrative", topic.narrative ?? "");
  setHidden(view.narrativeBlock, !topic.narrative);
  view.need.scrollTop = 0;
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
  view.drawn.touched = new Set(state.pending.map((item) => state.byId.get(item.judgement.query_id)));
}

function statusOf(state) {
  const n = state.pending.length;
  const what = `${n} ${n === 1 ? "judgement" : "judgements"}`;
  const place = state.storeFails ? "in this tab" : "in this browser";
  const long = state.failures > 0 && Date.now() - state.failingSince >= OFFLINE_AFTER;
  if (state.trouble === 401) {
    const kept = n ? ` ${what} ${n === 1 ? "is" : "are"} kept ${place}.` : "";
    const { detail } = state;
    const cause = !detail || detail === "not signed in" ? "reload this page to sign in again" : detail.replace(/\.$/, "");
    return ["problem", `You are signed out: ${cause}.${kept}`];
  }
  if (long || (state.trouble >= 400 && state.trouble < 500)) {
    const detail = state.detail ? `, ${state.detail}` : "";
    const cause = { 0: "No connection", "-1": "The server's answer makes no sense", 403: asSentence(state.detail) }[state.trouble]
      || `The server answers with an error (${state.trouble}${detail})`;
    const waits = `${what} ${n === 1 ? "waits" : "wait"} ${place} and will be sent`;
    return ["problem", `${cause}: ${n ? waits : "trying again"}`];
  }
  const words = n ? `${n} not saved yet` : "Saved";
  if (state.storeFails) return ["problem", `${words}. This browser stores nothing: keep the tab open until all is saved.`];
  return [n || state.failures ? "waiting" : "saved", words];
}

const asSentence = (text) => text.charAt(0).toUpperCase() + text.slice(1).replace(/\.$/, "");

function renderStatus(state, view) {
  const [kind, words] = statusOf(state);
  setText(view, "status", words);
  if (view.drawn.statusKind === kind) return;
  view.drawn.statusKind = kind;
  view.status.dataset.kind = kind;
  view.status.setAttribute("aria-live", kind === "problem" ? "polite" : "off"); // each "Saved" aloud would be noise
}

function renderRefused(state, view) {
  const key = state.refused.map(({ uuid }) => uuid).join();
  if (view.drawn.refused === key) return;
  view.drawn.refused = key;
  view.refused.replaceChildren(...state.refused.map(({ uuid, title, words, reason }) => {
    const row = make("div", { className: "cd-refusal" });
    const close = make("button", { type: "button", className: "cd-small", textContent: "Dismiss" });
    Object.assign(close.dataset, { do: "dismiss", uuid });
    const name = make("bdi", { className: "cd-apart", textContent: title });
    const line = make("span", {});
    line.append("Refused: ", name, `: ${words}. `, make("bdi", { className: "cd-apart", textContent: reason }));
    row.append(line, close);
    return row;
  }));
}

function renderPanels(state, view) {
  setHidden(view.reasonsPanel, state.panel !== "reasons");
  setHidden(view.helpPanel, state.panel !== "help");
  setHidden(view.whyPanel, state.panel !== "why");
  setHidden(view.searchPanel, state.panel !== "search");
  setHidden(view.guidelinesPanel, state.panel !== "guidelines");
  setHidden(view.notePanel, state.panel !== "note");
  renderWhy(state, view);
  renderSearch(state, view);
}

function make(tag, properties) {
  return Object.assign(document.createElement(tag), properties);
}

/** Key cap and words; the whole sentence as tooltip and for screen readers. */
function labelled(cap, words, sentence, dataset) {
  const button = make("button", { type: "button", title: sentence });
  button.setAttribute("aria-label", sentence);
  Object.assign(button.dataset, dataset);
  button.append(make("kbd", { textContent: cap }), make("span", { className: "cd-apart", textContent: words }));
  return button;
}

function fillButtons(state, view) {
  const key = JSON.stringify([state.scale, state.reasons]);
  if (view.drawn.buttons === key) return;
  view.drawn.buttons = key;
  const count = state.scale.length;
  view.grades.style.setProperty("--cd-grades", count);
  view.grades.style.setProperty("--cd-grades-narrow", count <= 4 ? count : Math.ceil(count / 2));
  view.grades.replaceChildren(...state.scale.map(({ grade, label, sentence }) => (
    labelled(grade, label, `${grade} ${sentence}`, { do: "grade", grade }))));
  view.reasons.replaceChildren(...state.reasons.map((reason, i) => (
    labelled(i + 1, reason, `${i + 1} ${reason}`, { do: "reason", reason: i + 1 }))));
  view.otherCap.textContent = state.reasons.length < 9 ? state.reasons.length + 1 : "Tab";
  view.drawn.mark = undefined;
  view.gradeKeys.replaceChildren(...state.scale.flatMap(({ grade, sentence }) => {
    const key = make("dt");
    key.append(make("kbd", { textContent: grade }));
    return [key, make("dd", { className: "cd-apart", textContent: forward(sentence) })];
  }));
}
