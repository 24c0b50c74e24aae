// Talking to the routes: one request, its token, and its failures. Part of every card.

const TIMEOUT = 20_000; // a request without an answer must not block the others for ever
const KEEPALIVE_LIMIT = 20_000; // characters: browsers refuse keepalive requests above 64 KB

/** A failed request; `status` 0 means no answer, -1 an unexpected one. */
class Failure extends Error {
  constructor(status, detail = "") {
    super(detail || `status ${status}`);
    this.status = status;
    this.detail = detail;
  }
}

async function failureOf(response) {
  const body = await response.json().catch(() => null);
  return new Failure(response.status, typeof body?.error === "string" ? body.error : "");
}

async function send(state, route, body) {
  const text = JSON.stringify(body);
  try {
    return await fetch(`${state.routes}/${route}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Cleverdon-Token": state.token ?? "" },
      body: text,
      signal: AbortSignal.timeout(TIMEOUT),
      keepalive: text.length < KEEPALIVE_LIMIT, // a tab that is closed now still delivers
    });
  } catch {
    throw new Failure(0);
  }
}

async function post(state, route, body) {
  const token = state.token;
  let response = await send(state, route, body);
  if (response.status === 401) {
    await renewToken(state, token);
    response = await send(state, route, body);
  }
  if (!response.ok) throw await failureOf(response);
  return response.json();
}

/** Asks for a token once, however many requests were answered 401 in the meantime. */
async function renewToken(state, used) {
  if (state.token !== used) return;
  state.renewing ??= askToken(state).finally(() => { state.renewing = null; });
  await state.renewing;
}

async function askToken(state) {
  const response = await send(state, "token", { annotator: state.annotator });
  if (!response.ok) throw await failureOf(response);
  state.token = (await response.json()).token;
}

/** A cause as the end of a sentence. */
function causeOf(error) {
  const { status = -1, detail = "" } = error instanceof Failure ? error : {};
  if (status === 0) return "there is no connection to the server";
  if (status === 401) return "you are signed out; reload this page to sign in again";
  if (status < 0) return "the server sent an unexpected answer";
  return detail.replace(/\.$/, "") || `server error (${status})`;
}

