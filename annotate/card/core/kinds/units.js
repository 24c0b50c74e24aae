// Shared logic of the kinds whose units are handed out across topics: lists, preferences and adjudication.

/** @import { Decision, Kind, State, SyncRequest, Turn, Unit, UnitScope } from "../types.js" */

import { contextOf, syncRequest, takeChanged } from "../outbox.js";
import {
  changeHistory,
  countUnseen,
  entryOf,
  keepUnits,
  lineUp,
  newUnits,
  outstanding,
  savedEntry,
  takeRecent,
} from "../state.js";

/** Older decisions that a fresh card can look back at. */
const RECENT = 40;

/** @typedef {Omit<Partial<Kind<UnitScope>>, "take"> & Pick<Kind, "name" | "title" | "subject" | "unitId" | "about"> & Own} UnitKind */

/**
 * The fields that each of these kinds defines itself; its name is that of the task.
 *
 * @typedef {object} Own
 * @property {number} low ask for more when fewer units are held
 * @property {number} full and ask for as many as make this
 * @property {(unit: any) => Unit} take a unit as it arrives
 * @property {(unit: any) => Decision | null} decided what was decided of a unit that arrives; null if it is open
 * @property {(turn: Turn<UnitScope>, request: SyncRequest, answer: any) => boolean} [takePlans]
 */

/**
 * Units done and to be done, with decisions that are not counted yet; null until the server has said it.
 *
 * @param {State<UnitScope>} state
 */
export function countOf(state) {
  const { progress } = state.scope;
  if (!progress) return null;
  const unsent = outstanding(state).reduce((sum, { delta }) => sum + delta, 0);
  return { done: Math.max(0, Math.min(progress.goal, progress.done + unsent)), goal: progress.goal };
}

/** @param {any} recent a decision with its title */
const recentEntry = ({ title, ...decision }) => savedEntry(decision, title || decision.query_id);

/** @param {UnitKind} own @returns {Kind<UnitScope>} */
export function unitKind(own) {
  const { name, low, full, isWaiting = () => false } = own;

  /** @param {State<UnitScope>} state */
  function wanted(state) {
    const held = countUnseen(state);
    return held < low && !state.exhausted ? full - held : 0;
  }

  /** True if the server has to say how a unit continues, and knows what another tab decided on it. @param {State<UnitScope>} state */
  function isPlanDue(state) {
    const unsaved = new Set(
      Object.values(state.otherDecisions).flatMap(({ saved, pending }) => (saved ? [] : own.unitId(pending.decision))),
    );
    return state.units.some((unit) => isWaiting(unit) && !unsaved.has(unit.id));
  }

  /** @param {State<UnitScope>} state @param {number} want */
  function ask(state, want) {
    const { filter } = state.scope;
    return syncRequest(state, `${name}/sync`, want, ({ id }) => id, { due: state.due, filter }, { filter });
  }

  /** @param {Turn<UnitScope>} turn @param {SyncRequest} request @param {any} answer */
  function takeSync(turn, request, answer) {
    const { state } = turn;
    const { scope } = state;
    const { batch, want, filter } = request.context;
    const saved = new Set(answer.saved);
    const grown = batch.reduce((sum, { decision, delta }) => sum + (saved.has(decision.uuid) ? delta : 0), 0);
    scope.progress = answer.progress ?? (scope.progress && { ...scope.progress, done: scope.progress.done + grown });
    scope.task = answer.task;
    const shown = state.look === null && !turn.waiting ? state.units[0] : undefined;
    if (answer.task !== name) {
      // what is on screen can be decided still; nothing else of this is asked for
      keepUnits(turn, (unit) => unit === shown);
      return true;
    }
    if (/** @type {{ leave: boolean }} */ (request.body).leave) return true; // it was sent at the end
    takeChanged(turn, answer);
    const closed = new Set(answer.closed); // decided elsewhere meanwhile; what is on screen stays there
    const busy = new Set(outstanding(state).map(({ decision }) => own.unitId(decision)));
    keepUnits(turn, (unit) => unit === shown || !closed.has(unit.id) || busy.has(unit.id));
    const isTaken = own.takePlans?.(turn, request, answer) ?? true;
    if (filter !== scope.filter) return isTaken; // what came was chosen by the former one
    const fresh = newUnits(state, answer.units.map(own.take), busy).map((unit) => ({
      ...unit,
      skipped: state.skipped.includes(unit.id),
    }));
    lineUp(state, fresh);
    if (want > 0) state.exhausted = answer.exhausted || (answer.units.length > 0 && !fresh.length);
    return isTaken;
  }

  /** The unit that the page was opened for: the next one, or what was decided of it. @param {Turn<UnitScope>} turn @param {any} answer */
  function takeAsked(turn, answer) {
    const { state } = turn;
    const unit = own.take(answer);
    if (state.requested === unit.id) state.requested = undefined;
    state.entered = unit.queryId;
    const decision = own.decided(answer);
    if (!decision) {
      state.units = [unit, ...state.units.filter(({ id }) => id !== unit.id)];
      state.due = true; // tells the server what is in hand
      return;
    }
    const subject = own.subject(decision);
    const known = entryOf(kind, state, subject);
    // An unsent decision of this browser is newer than the answer.
    const isNewer = known?.unit && outstanding(state).some((each) => own.subject(each.decision) === subject);
    const { was = null, order = 0 } = known ?? {};
    const entry = { ...savedEntry(decision, own.title(unit), unit), was, order };
    const shown = isNewer ? known : entry;
    if (shown === entry) {
      if (known) changeHistory(turn, (each) => (each === known ? null : each));
      state.history = [...state.history, entry];
    }
    state.look = shown;
    state.notice = { code: "looking-back", title: shown.title, decision: shown.decision };
  }

  /** @type {Kind<UnitScope>} */
  const kind = {
    marks: { note: null },
    scope: () => ({ progress: null, task: name, filter: undefined, follows: false }),
    delta: () => 1,
    back: (_, { unit }) => ({ unit, delta: -1 }),
    ...own,
    isOnly: (state) => state.units.length === 1 && state.exhausted,
    isBlocked(state) {
      const count = countOf(state);
      const isDone = !count?.goal || count.done >= count.goal;
      const isOpen = state.scope.task === name && !isDone && state.requested === undefined;
      return isOpen && state.exhausted && !state.units.some(isWaiting);
    },
    again({ state }) {
      state.exhausted = false;
    },
    count({ state }, { delta }, answer) {
      const { progress } = state.scope;
      if (!answer.progress && progress) state.scope.progress = { ...progress, done: progress.done + delta };
    },
    next(state) {
      const fetches = state.mounted && state.scope.task === name; // not on screen: nothing to fetch
      const want = fetches ? wanted(state) : 0;
      if (state.outbox.length || (fetches && (state.due || want > 0 || isPlanDue(state)))) return ask(state, want);
      if (!fetches) return null;
      const context = { ...contextOf(state), batch: [] };
      if (state.requested !== undefined)
        return { lane: "sync", route: `${name}/unit`, body: { unit: state.requested }, context };
      if (!state.wantsRecent) return null;
      return { lane: "sync", route: `${name}/recent`, body: { limit: RECENT }, context };
    },
    take(turn, request, answer) {
      if (request.route === `${name}/recent`) takeRecent(turn, answer.decisions.map(recentEntry));
      else if (request.route === `${name}/unit`) takeAsked(turn, answer);
      else return takeSync(turn, request, answer);
      return true;
    },
    refused(turn, request, failure) {
      if (request.route !== `${name}/unit` || failure.status < 400 || failure.status >= 500 || failure.status === 401)
        return false;
      turn.state.requested = undefined;
      turn.state.notice = { code: "cannot-show-requested", urgent: true, ...failure };
      return true;
    },
    last: (state) => ask(state, 0),
    fetch: (decision) => ({ route: `${name}/unit`, body: { unit: own.unitId(decision) } }),
    fetched: (answer, decision) => ({ unit: own.take(answer), decision }),
    mount(turn, { fresh, requested, filter, follows = false }) {
      const { state } = turn;
      const { scope } = state;
      scope.follows = follows;
      if (JSON.stringify(filter) !== JSON.stringify(scope.filter)) {
        // the units were chosen by the former one
        scope.filter = filter;
        Object.assign(state, { units: [], entered: null, exhausted: false, due: true });
      }
      if (fresh) {
        scope.task = name;
        Object.assign(state, { exhausted: false, requested: undefined });
      }
      if (requested === null) return;
      const held = state.units.find(({ id }) => id === requested);
      state.look = null;
      if (held) {
        state.units = [{ ...held, skipped: false }, ...state.units.filter((unit) => unit !== held)];
        Object.assign(state, { entered: held.queryId, due: true });
      } else state.requested = requested;
    },
  };
  return kind;
}
