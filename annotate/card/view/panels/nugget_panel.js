// Nuggets beside the document: made from what is selected in it, and listed with the annotator's others of the topic.

/** @import { NuggetEdit, NuggetSource } from "../../wire.d.ts" */
/** @import { RefusedEdit, ShownNugget } from "../../core/nuggets.js" */
/** @import { DrawnDocument, Part, View } from "../types.js" */

import { shownNuggets } from "../../core/nuggets.js";
import { same } from "../../core/state.js";
import { causeOf, Failure } from "../../shell/network.js";
import { nuggetBox } from "../../shell/nugget_box.js";
import { newUuid } from "../../shell/storage.js";
import { ONE_MOMENT } from "../frame/bar.js";
import { hasNoKeyboard } from "../frame/keys.js";
import { apart, cut, make, setPressed, smallButton } from "../frame/nodes.js";
import { count, plural } from "../frame/phrases.js";
import { shownTopic } from "./topics.js";

const IMPORTANCES = /** @type {const} */ ({ vital: "Vital", okay: "Okay" });

/** @typedef {NuggetEdit["importance"] & string} Importance */

/**
 * The nugget in the field: a new one, or one of the list with its name.
 *
 * @typedef {{ queryId: string, nugget: string, sources: NuggetSource[], importance: Importance, lost?: string,
 *   text: string, stays: boolean }} Form
 */

/** @param {View} view @param {DrawnDocument} drawn @returns {Part} */
export function nuggetPanel(view, drawn) {
  const { card } = view;
  const box = nuggetBox(card);
  const field = view.field("nuggetField");
  const list = view.node("ownNuggets");
  const lost = view.node("lostNuggets");
  const { draft } = box;
  /** @type {Form | null} */
  let form = draft;
  field.value = draft?.written ?? "";
  /** Whether the field is to be opened with what was written before the page was loaded. */
  let isRestored = Boolean(draft);
  /** @type {unknown} */
  let drawnList = null;
  /** @type {unknown} */
  let drawnLost = null;

  const topicId = () => form?.queryId ?? shownTopic(view)?.query_id;
  const shown = () => shownNuggets(box.state, topicId() ?? "") ?? [];

  /** Saves an edit; gives the uuid by which the nugget that it adds is known. @param {string} queryId @param {Omit<NuggetEdit, "uuid">} edit */
  function save(queryId, edit) {
    const uuid = newUuid();
    box.dispatch({ type: "edit", queryId, edit: { uuid, ...edit } });
    return uuid;
  }

  function load() {
    const queryId = topicId();
    if (queryId) box.dispatch({ type: "show", queryId });
  }

  function open() {
    view.setPanel("nuggets");
    load();
    if (form) field.focus();
    else focusFirst();
  }

  // ------------------------------------------------------------------------------------------------ the field

  /** Opens the field. @param {Omit<Form, "stays">} next */
  function write(next) {
    form = { ...next, stays: view.panel === "nuggets" };
    field.value = form.text;
    if (form.stays) view.render();
    else view.setPanel("nuggets");
    load();
    field.focus();
    field.select();
  }

  /** Keeps what is written for the next visit to the page. */
  function keepDraft() {
    box.draft = form && { ...form, written: field.value };
  }

  /** Ends writing. */
  function clear() {
    form = null;
    box.draft = null;
  }

  /** Makes a nugget of what is selected, or of the annotator's own words, with the document as its source. */
  function begin() {
    const { item } = view;
    const [doc] = item?.unit.documents ?? [];
    if (!item || !doc) return view.reply();
    if (form) return open();
    const { places, words } = drawn.quote();
    /** @type {NuggetSource[]} */
    const passages = places.map(([start, end]) => ({ doc_id: doc.doc_id, start, end }));
    const sources = passages.length ? passages.slice(0, 100) : [{ doc_id: doc.doc_id, start: null, end: null }];
    document.getSelection()?.removeAllRanges();
    const text = words.replace(/\s+/g, " ").trim().slice(0, field.maxLength);
    return write({ queryId: item.unit.queryId, nugget: "", sources, importance: "", text });
  }

  /** Leaves the field: back to the list if it was open, else to the document. @param {string} [name] the nugget in the list */
  function leave(name) {
    const { stays = true } = form ?? {};
    clear();
    if (!stays) return view.setPanel(null);
    view.render();
    return focusOn(name ?? "") ?? view.panelNode?.focus({ preventScroll: true });
  }

  function keep() {
    if (!form) return;
    const { queryId, nugget, sources, importance, lost: refused } = form;
    const text = field.value.replace(/\s+/g, " ").trim();
    if (!text) {
      card.say("A nugget needs a text.");
      return;
    }
    if (nugget) {
      const known = shown().find((each) => each.nugget === nugget);
      const changes = {
        ...(known?.text !== text && { text }),
        ...(known?.importance !== importance && { importance }),
      };
      if (Object.keys(changes).length) save(queryId, { kind: "change", nugget, ...changes });
    }
    const name = nugget || save(queryId, { kind: "add", text, importance, sources });
    if (refused) box.dispatch({ type: "dismiss", uuid: refused });
    leave(name);
    const lacks = importance ? "" : " It has no importance yet: mark it vital or okay in the list.";
    card.say(`Nugget ${nugget ? "changed" : "added"}.${lacks}`);
  }

  /** Sets the importance, and returns to the field, where Enter saves. @param {Importance} importance */
  function choose(importance) {
    if (!form) return;
    form.importance = form.importance === importance ? "" : importance;
    keepDraft();
    view.render();
    if (!hasNoKeyboard()) field.focus();
  }

  // ------------------------------------------------------------------------------------------------- the list

  const textButtons = () => /** @type {HTMLElement[]} */ ([...list.querySelectorAll("[data-do=edit-nugget]")]);

  const focusFirst = () => textButtons()[0]?.focus({ preventScroll: true });

  /** @param {string} name */
  function focusOn(name) {
    const button = textButtons().find(({ dataset }) => dataset.nugget === name);
    button?.focus();
    return button;
  }

  /** @param {string} name */
  function edit(name) {
    const queryId = topicId();
    const nugget = shown().find((each) => each.nugget === name);
    if (queryId && nugget)
      write({ queryId, nugget: name, sources: nugget.sources, importance: nugget.importance, text: nugget.text });
  }

  /** Writes a text that was not saved again, as a new nugget. @param {RefusedEdit} refused */
  function rewrite({ queryId, text, edit: { uuid, sources = [], importance = "" } }) {
    write({ queryId, nugget: "", sources, importance, lost: uuid, text });
  }

  /** @param {string} name @param {Importance} importance */
  function mark(name, importance) {
    const queryId = topicId();
    const nugget = shown().find((each) => each.nugget === name);
    if (!queryId || !nugget) return;
    save(queryId, { kind: "change", nugget: name, importance: nugget.importance === importance ? "" : importance });
  }

  /** @param {string} name */
  function remove(name) {
    const queryId = topicId();
    if (!queryId) return;
    const buttons = textButtons();
    const at = buttons.findIndex(({ dataset }) => dataset.nugget === name);
    const next = (buttons[at + 1] ?? buttons[at - 1])?.dataset.nugget;
    save(queryId, { kind: "delete", nugget: name });
    focusOn(next ?? "") ?? view.panelNode?.focus({ preventScroll: true });
    card.say("Nugget deleted. Undo it on the page Nuggets.");
  }

  /** @param {ShownNugget} nugget */
  function row({ nugget, text, importance, waits }) {
    const label = waits ? `${text} (not saved yet)` : text;
    const words = make("button", { type: "button", className: "cd-words", title: "Edit", ariaLabel: `Edit: ${label}` });
    Object.assign(words.dataset, { do: "edit-nugget", nugget });
    const lacks = importance ? [] : [make("i", {}, "No importance")];
    words.append(apart("span", text), ...lacks, ...(waits ? [make("i", {}, "Not saved yet")] : []));
    const marks = Object.entries(IMPORTANCES).map(([name, each]) => {
      const button = smallButton(each, "mark-nugget", { nugget, importance: name });
      return Object.assign(button, { ariaPressed: String(importance === name), ariaLabel: `${each}: ${text}` });
    });
    const bin = make(
      "button",
      { type: "button", className: "cd-icon", title: "Delete", ariaLabel: `Delete: ${text}` },
      "×",
    );
    Object.assign(bin.dataset, { do: "delete-nugget", nugget });
    return make("li", {}, words, make("span", { className: "cd-importance" }, ...marks, bin));
  }

  function drawList() {
    const next = shown();
    if (same(next, drawnList ?? [null])) return;
    drawnList = next;
    const { active } = view;
    const { do: action = "", nugget = "", importance = "" } = active && list.contains(active) ? active.dataset : {};
    const isFirst = !list.childElementCount;
    list.replaceChildren(...next.map(row));
    // The list was opened before it arrived, and nothing else has taken the focus since.
    if (isFirst && !form && active === view.node("nuggetsPanel")) return focusFirst();
    const now = next.find((each) => each.added === nugget); // it has got its name
    const isSame = (/** @type {HTMLElement} */ each) =>
      each.dataset.do === action && (each.dataset.importance ?? "") === importance;
    const named = [...list.querySelectorAll("button")].filter(({ dataset }) =>
      [nugget, now?.nugget].includes(dataset.nugget),
    );
    if (action) named.find(isSame)?.focus({ preventScroll: true });
    return undefined;
  }

  function drawLost() {
    const refused = box.state.refused.filter((each) => each.queryId === topicId());
    if (drawnLost === box.state.refused && lost.childElementCount === refused.length) return;
    drawnLost = box.state.refused;
    lost.hidden = !refused.length;
    lost.replaceChildren(
      ...refused.map(({ edit: { uuid }, text, reason }) =>
        make(
          "li",
          {},
          make("b", {}, `Not saved: ${reason}.`),
          apart("p", text),
          smallButton("Write again", "rewrite-nugget", { uuid }),
          smallButton("Discard", "discard-nugget", { uuid }),
        ),
      ),
    );
  }

  function render() {
    const { lists, outbox, trouble } = box.state;
    const queryId = topicId() ?? "";
    view.setHidden("nuggetForm", !form);
    view.setText("nuggetGoal", form?.nugget ? "Edit the nugget; its source is " : "New nugget from ");
    const names = [...new Set(form?.sources.map(({ doc_id }) => doc_id))];
    view.setText("nuggetSource", names.length ? cut(names.join(", "), 120) : "no document");
    for (const name of /** @type {const} */ (["vital", "okay"]))
      setPressed(view.node(name === "vital" ? "nuggetVital" : "nuggetOkay"), form?.importance === name);
    const waiting = outbox.length
      ? `${count(outbox.length, "edit")} of nuggets not saved yet; kept in this browser until the server can be reached`
      : "The list could not be loaded";
    const cause = trouble && causeOf(new Failure(trouble.status, trouble.detail));
    view.setLine("nuggetsTrouble", cause ? `${waiting}: ${cause}.` : "");
    drawLost();
    drawList();
    const number = shown().length;
    const lacking = shown().filter(({ importance }) => !importance).length;
    const lacks = lacking ? `, ${lacking} without importance: mark ${plural(lacking, "it", "them")} vital or okay` : "";
    const says = number ? `${count(number, "nugget")} in this topic${lacks}` : "You have no nuggets in this topic yet.";
    view.setText("nuggetsSays", lists[queryId] || number || trouble ? says : ONE_MOMENT);
    view.setHidden("nuggetsKeys", !number || Boolean(form));
    view.setHidden("newNugget", !view.item || Boolean(form));
  }

  return {
    actions: {
      nugget: { run: begin },
      nuggets: { run: () => (view.panel === "nuggets" && !form ? view.setPanel(null) : open()), panel: "nuggets" },
    },
    clicks: {
      "save-nugget": keep,
      "leave-nugget": () => leave(form?.nugget),
      "choose-vital": () => choose("vital"),
      "choose-okay": () => choose("okay"),
      "edit-nugget": ({ dataset }) => edit(dataset.nugget ?? ""),
      "mark-nugget": ({ dataset }) => mark(dataset.nugget ?? "", /** @type {Importance} */ (dataset.importance)),
      "delete-nugget": ({ dataset }) => remove(dataset.nugget ?? ""),
      "rewrite-nugget"({ dataset }) {
        const refused = box.state.refused.find((each) => each.edit.uuid === dataset.uuid);
        if (refused) rewrite(refused);
      },
      "discard-nugget": ({ dataset }) => box.dispatch({ type: "dismiss", uuid: dataset.uuid ?? "" }),
    },
    panels: {
      nuggets: {
        beside: true,
        field: "nuggetField",
        inField({ key, shiftKey }) {
          if (key === "Escape") return () => leave(form?.nugget);
          return key === "Enter" && !shiftKey ? keep : undefined;
        },
        keys: (_, { key }) => (key === "Escape" && form ? () => leave(form?.nugget) : undefined),
        render,
        /** What was typed waits until it is saved or discarded, also while another panel is open. */
        left() {
          if (field.value.trim() === (form?.text ?? "").trim()) clear();
        },
      },
    },
    /** In the list, arrows go from nugget to nugget, and keys act on the nugget that has the focus. */
    keyAt({ key }, target) {
      const name = target.dataset.nugget;
      if (!name || !list.contains(target)) return undefined;
      if (key === "ArrowDown" || key === "ArrowUp") {
        const buttons = textButtons();
        const at = buttons.findIndex(({ dataset }) => dataset.nugget === name) + (key === "ArrowDown" ? 1 : -1);
        return () => buttons[Math.max(0, Math.min(buttons.length - 1, at))]?.focus();
      }
      if (key === "v" || key === "o") return () => mark(name, key === "v" ? "vital" : "okay");
      return key === "Delete" || key === "Backspace" ? () => remove(name) : undefined;
    },
    attach(on) {
      on(window, "online", () => box.dispatch({ type: "wake" }));
      on(field, "input", keepDraft);
    },
    render(item, turned) {
      if (isRestored && item) {
        isRestored = false;
        queueMicrotask(() => view.panel ?? view.setPanel("nuggets"));
      }
      if (turned && item && view.panel === "nuggets" && !form && !box.state.lists[item.unit.queryId])
        queueMicrotask(load); // not while it is drawn
    },
  };
}
