// Requests to the routes, with their token and failures.

/** Ms: a request without an answer must not block the others for ever. */
const TIMEOUT = 20_000;

/** Characters: browsers refuse keepalive requests above 64 KB. */
const KEEPALIVE_LIMIT = 20_000;

/** A failed request; `status` 0 means no answer, -1 an unexpected one. */
export class Failure extends Error {
  /** @param {number} status @param {string} detail */
  constructor(status, detail = "") {
    super(detail || `status ${status}`);
    this.status = status;
    this.detail = detail;
  }
}

/** The answer of a route; throws a `Failure`. @param {Response} response @returns {Promise<any>} */
async function answerOf(response) {
  const answer = await response.json().catch(() => undefined);
  if (response.ok && answer !== undefined) return answer;
  throw new Failure(response.ok ? -1 : response.status, typeof answer?.error === "string" ? answer.error : "");
}

/**
 * Requests to the judging routes under an address, as one annotator.
 *
 * A 401 is answered by asking for a new token and one more attempt; several that come meanwhile ask once.
 */
export class Network {
  /** @param {string} address @param {string} annotator @param {string} token */
  constructor(address, annotator, token) {
    this.address = address;
    this.annotator = annotator;
    this.token = token;
    /** @type {Promise<void> | null} */
    this.renewing = null;
  }

  /** @param {string} route @param {object} content */
  async send(route, content) {
    const headers = { "Content-Type": "application/json", "X-Cleverdon-Token": this.token };
    const body = JSON.stringify(content);
    const signal = AbortSignal.timeout(TIMEOUT);
    const keepalive = body.length < KEEPALIVE_LIMIT; // a tab that is closed now still delivers
    try {
      return await fetch(`${this.address}/${route}`, { method: "POST", headers, body, signal, keepalive });
    } catch {
      throw new Failure(0);
    }
  }

  /** The answer of a route; throws a `Failure`. @param {string} route @param {object} content */
  async post(route, content) {
    const { token } = this;
    let response = await this.send(route, content);
    if (response.status === 401) {
      if (this.token === token) {
        this.renewing ??= this.renew().finally(() => {
          this.renewing = null;
        });
        await this.renewing;
      }
      response = await this.send(route, content);
    }
    return answerOf(response);
  }

  async renew() {
    this.token = (await answerOf(await this.send("token", { annotator: this.annotator }))).token;
  }
}

/** The cause of a failure as the end of a sentence. @param {unknown} error */
export function causeOf(error) {
  const { status, detail } = error instanceof Failure ? error : new Failure(-1);
  if (status === 0) return "there is no connection to the server";
  if (status === 401) return "you are signed out; reload this page to sign in again";
  if (status < 0) return "the server sent an unexpected answer";
  return detail.replace(/\.$/, "") || `server error (${status})`;
}
