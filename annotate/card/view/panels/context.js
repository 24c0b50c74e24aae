// What a topic has besides its texts: the turns of a conversation before the question, and other fields.

/** @import { Topic, TopicWords, View } from "../types.js" */

import { apart, make } from "../frame/nodes.js";
import { figure, plural } from "../frame/phrases.js";

/** Turns that are shown without a request: two questions with their answers. */
const LATEST = 4;

/** @typedef {NonNullable<Topic["turns"]>} Turns */
/** @typedef {NonNullable<Topic["fields"]>} Fields */

/** @type {Turns} */
const NO_TURNS = [];
/** @type {Fields} */
const NO_FIELDS = [];

/** @param {Turns[number]} turn */
const drawnTurn = ({ speaker, text }) =>
  make(
    "li",
    {},
    ...(speaker ? [apart("b", speaker.charAt(0).toUpperCase() + speaker.slice(1))] : []),
    apart("div", text),
  );

/**
 * Draws the turns, of which the earlier ones are folded, and the fields, which stay folded or open from topic to topic.
 *
 * @param {View} view @param {(name: string) => string} part the name of a part at this place
 */
export function topicContext(view, part) {
  let [drawnTurns, drawnFields] = [NO_TURNS, NO_FIELDS];

  /** @param {Turns} turns */
  function drawTurns(turns) {
    const [earlier, latest] = [turns.slice(0, -LATEST), turns.slice(-LATEST)];
    view.setHidden(part("turnsBlock"), !turns.length);
    view.setHidden(part("earlier"), !earlier.length);
    view.setText(part("earlierWords"), `${figure(earlier.length)} earlier ${plural(earlier.length, "turn")}`);
    /** @type {HTMLDetailsElement} */ (view.node(part("earlier"))).open = false;
    view.node(part("earlierTurns")).replaceChildren(...earlier.map(drawnTurn));
    view.node(part("turns")).replaceChildren(...latest.map(drawnTurn));
    view.node(part("turnsBlock")).scrollTop = 0; // the last turn, next to the question: the block is laid out upwards
  }

  /** @param {Fields} fields */
  function drawFields(fields) {
    view.setHidden(part("fieldsBlock"), !fields.length);
    view.setText(part("fieldsWords"), `${figure(fields.length)} other ${plural(fields.length, "field")}`);
    const rows = fields.flatMap(({ name, text }) => [make("dt", {}, apart("bdi", name)), apart("dd", text)]);
    view.node(part("fields")).replaceChildren(...rows);
  }

  /** @param {Topic | TopicWords} topic */
  return ({ turns = NO_TURNS, fields = NO_FIELDS }) => {
    if (turns !== drawnTurns) drawTurns(turns);
    if (fields !== drawnFields) drawFields(fields);
    [drawnTurns, drawnFields] = [turns, fields];
  };
}
