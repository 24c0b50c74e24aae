// Further questions in the bar: one after another in the place of the grades, which keep it.

/** @import { Item, Part, Question, Source, View } from "../types.js" */

import { askedAt, isRequired, placeOf, readDigits, selectedAnswer, unfinishedOf } from "../../core/questions.js";
import { apart, forward, make, setHidden, setPressed } from "../frame/nodes.js";
import { count } from "../frame/phrases.js";
import { answerButton, layOut, ONE_DIGIT } from "./answers.js";
import { answerWith, incompleteWords, numberOf, numbersOf } from "./question_words.js";

const ARROWS = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]);

/** @param {View} view @returns {Part} */
export function questions(view) {
  const { card } = view;
  const asked = view.node("asked");
  const choices = view.node("choices");
  /** The lines and answers of all questions, which share their place so that it is as high as the highest. @type {Map<string, { line: HTMLElement, place: HTMLElement, group: HTMLElement }>} */
  let drawn = new Map();
  let built = "[]";
  /** @type {unknown[]} */
  let shown = [];
  /** Digits of a number that is not complete, and what was on screen. @type {{ on: string | null, digits: string }} */
  let typed = { on: null, digits: "" };

  const digits = () => (typed.on === card.on ? typed.digits : "");

  /** The nodes of the answers on screen. @param {Item | null} item */
  const group = (item) => drawn.get(item?.question?.name ?? "")?.group ?? view.node("grades");

  /** Draws the digits that were typed: the answers that begin with them. @param {string} text */
  function type(text) {
    typed = { on: card.on, digits: text };
    for (const button of group(view.item).children) {
      const number = /** @type {HTMLElement} */ (button).dataset.number ?? "";
      button.classList.toggle("cd-typed", text !== "" && number.startsWith(text));
    }
  }

  /** Forgets the digits that were typed. */
  function untype(words = "") {
    type("");
    card.say(words);
  }

  /** @param {number} number @param {Source} source */
  function answer(number, source) {
    if (digits()) type("");
    const { question = null } = view.item ?? {};
    if (!question) return view.decide({ kind: "graded", relevance: number }, source);
    const value = answerWith(question, number)?.value;
    if (value !== undefined) card.dispatch({ type: "respond", value, ...card.by(source) });
  }

  /** @param {Source} source */
  function pass(source, clears = false) {
    card.dispatch({ type: "pass", clears, ...card.by(source) });
  }

  /** @param {Question} question */
  function build(question) {
    const { name, kind, sentence, required, required_in, answers } = question;
    const node = make("div", { className: "cd-grades" });
    Object.assign(node, { role: "group", ariaLabel: forward(sentence) });
    const isScale = kind === "grades";
    layOut(
      node,
      answers.map(({ label }) => label),
      isScale,
    );
    const isDense = isScale && answers.length > ONE_DIGIT;
    const buttons = answers.map(({ label, sentence: words }, i) =>
      answerButton(numberOf(question, i), label, words, { do: "answer" }, isDense),
    );
    node.replaceChildren(...buttons);
    const place = make("b", {});
    const line = make(
      "p",
      { className: required && !required_in ? "" : "cd-optional" },
      place,
      " ",
      apart("span", sentence),
    );
    drawn.set(name, { line, place, group: node });
  }

  /** @param {Item} item @param {Question} question */
  function mark(item, question) {
    const selected = selectedAnswer(view.state, item);
    const isGiven = unfinishedOf(view.state, item.unit, item.entry, item.subject)?.answers[question.name] !== undefined;
    const wasGiven = (item.entry?.decision ?? item.unit.before)?.answers?.[question.name] !== undefined;
    const values = selected === undefined ? [] : [selected].flat();
    for (const [i, { value }] of question.answers.entries()) {
      const button = /** @type {HTMLElement} */ (group(item).children[i]);
      const isSelected = values.includes(value);
      setPressed(button, isSelected && isGiven);
      button.dataset.mark = wasGiven ? "former" : "agreed";
      button.classList.toggle("cd-former", isSelected && !isGiven);
    }
    const isTags = question.kind === "tags";
    const needsAnswer = isRequired(question, item.unit.queryId);
    const goesOn = isTags || values.length > 0 || !needsAnswer;
    const words = values.length ? (isTags ? "Continue" : "Keep") : isTags && needsAnswer ? "None" : "No answer";
    view.setText("passWords", words);
    view.node("passQuestion").classList.toggle("cd-away", !goesOn);
    view.node("clearAnswer").classList.toggle("cd-away", needsAnswer || !values.length);
  }

  /** The grade of a question that is asked on request: the lowest at which it is asked. */
  function gradeToAsk() {
    const asked = view.data.questions?.find(({ required_in }) => required_in);
    return asked && view.data.scale.find(({ grade }) => askedAt([asked], grade).length)?.grade;
  }

  return {
    actions: {
      reason: {
        run(source) {
          const relevance = gradeToAsk();
          if (relevance === undefined) return view.reply();
          return card.dispatch({
            type: "decide",
            answer: { kind: "graded", relevance },
            asks: true,
            ...card.by(source),
          });
        },
      },
    },
    clicks: {
      answer: ({ dataset }) => answer(Number(dataset.number), "click"),
      "pass-question": () => pass("click"),
      "clear-answer": () => pass("click", true),
      "step-back": () => card.dispatch({ type: "step-back" }),
    },

    digit(digit) {
      const { question = null } = view.item ?? {};
      const numbers = question ? numbersOf(question) : view.data.scale.map(({ grade }) => grade);
      const text = `${digits()}${digit}`;
      if (text.length === 1 && Math.max(...numbers) < ONE_DIGIT)
        return numbers.includes(digit) ? (source) => answer(digit, source) : null;
      const { number, waits } = readDigits(numbers, text);
      if (waits)
        return () => {
          const hint = number === null ? "Type the second digit." : `Type another digit, or press Enter for ${number}.`;
          card.say(`${text}_ ${hint}`);
          type(text);
        };
      if (number !== null) return (source) => answer(number, source);
      if (text.length === 1) return null;
      return () => untype(`There is no answer ${text}.`);
    },

    number(number) {
      const { question = null } = view.item ?? {};
      const isKnown = question ? answerWith(question, number) : view.data.scale.some(({ grade }) => grade === number);
      return isKnown ? (source) => answer(number, source) : null;
    },

    fixedKey(key) {
      const text = digits();
      if (key === "Enter" && text) {
        const buttons = /** @type {HTMLElement[]} */ ([...group(view.item).children]);
        const isOne = buttons.some(({ dataset }) => dataset.number === text);
        return isOne ? () => answer(Number(text), "key") : () => untype(`There is no answer ${text}.`);
      }
      if (text) return () => untype();
      return view.item?.question ? () => pass("key", key === "Backspace") : undefined;
    },

    /** Arrows go from answer to answer where one has the focus. */
    keyAt(event, target) {
      if (event.shiftKey || !ARROWS.has(event.key)) return undefined;
      const { item } = view;
      const buttons = /** @type {HTMLElement[]} */ ([...group(item).children]);
      const isLong = item?.question || buttons.length > ONE_DIGIT;
      if (!isLong || !buttons.includes(target)) return undefined;
      const step = event.key === "ArrowLeft" || event.key === "ArrowUp" ? -1 : 1;
      const next = buttons[(buttons.indexOf(target) + step + buttons.length) % buttons.length];
      return () => next?.focus({ preventScroll: true });
    },

    stepBack() {
      if (digits()) return () => untype();
      return view.item?.question ? () => card.dispatch({ type: "step-back" }) : null;
    },

    attach() {
      const { questions: all = [] } = view.data;
      const text = JSON.stringify(all);
      if (built === text) return undefined;
      [built, shown] = [text, []];
      drawn = new Map();
      all.forEach(build);
      const lines = [...drawn.values()].map(({ line }) => line);
      asked.replaceChildren(
        make("p", { className: "cd-current" }, view.words("How relevant is this document?"), ...reasonButton(view)),
        ...lines,
      );
      choices.replaceChildren(...[...drawn.values()].map((each) => each.group));
      setHidden(view.node("question"), !all.length);
      const isAllRequired = all.every(({ required, required_in }) => required && !required_in);
      setHidden(view.node("clearAnswer"), isAllRequired);
      view.node("question").classList.toggle("cd-three", !isAllRequired);
      view.node("card").classList.toggle("cd-asks", all.length > 0);
      view.node("questionKeys").replaceChildren(...all.flatMap(keysOf));
      setHidden(view.node("questionKeys"), !all.length);
      view.keys.map();
      return undefined;
    },

    render(item) {
      view.setLine("saidWords", incompleteWords(view, item), "saidLine");
      const { question = null, subject = "" } = item ?? {};
      const was = shown[0];
      const now = [question, view.state.drafts[subject], item?.entry?.decision, item?.unit];
      if (question === null && was === null) return;
      if (now.every((each, i) => each === shown[i])) return;
      shown = now;
      const current = question && drawn.get(question.name);
      view.node("card").classList.toggle("cd-asking", question !== null);
      for (const { line, group: node } of drawn.values())
        for (const each of [line, node])
          each.classList.toggle("cd-current", each === current?.line || each === current?.group);
      asked.firstElementChild?.classList.toggle("cd-current", !question);
      if (!item || !question || !current) return;
      const [at, all] = placeOf(view.state, item);
      const place = `${at} of ${all}`;
      if (current.place.textContent !== place) current.place.textContent = place;
      mark(item, question);
    },

    /** An answer that had the focus gives it to the next question. */
    rendered(item) {
      if (!drawn.size) return;
      const { active } = view;
      const from = active?.closest(".cd-grades");
      const to = group(item);
      if (!from || from === to) return;
      const first = to.querySelector("[aria-pressed=true], .cd-former") ?? to.firstElementChild;
      /** @type {HTMLElement | null} */ (first)?.focus({ preventScroll: true });
    },
  };
}

/** The button of the action `reason`, where the card has it, beside the question for the grade. @param {View} view @returns {HTMLElement[]} */
function reasonButton({ data }) {
  const entry = data.keys.actions.reason;
  if (!entry) return [];
  const button = make("button", { type: "button", className: "cd-small cd-reason", dataset: { do: "reason" } });
  button.append(make("kbd", { dataset: { key: "reason" } }), make("span", {}, entry.label));
  return [button];
}

/** The answers of a question in the list of keys. @param {Question} question */
function keysOf(question) {
  const { sentence, answers, kind, required } = question;
  const rule = kind === "tags" ? "Any number of them" : required ? "" : "Optional";
  const lines = answers.flatMap(({ sentence: words }, i) => [
    make("dt", {}, make("kbd", {}, `${numberOf(question, i)}`)),
    apart("dd", words),
  ]);
  return [
    make("h3", {}, apart("span", sentence), rule ? ` (${rule.toLowerCase()})` : ""),
    make("dl", { ariaLabel: count(answers.length, "answer") }, ...lines),
  ];
}
