// Talking to the routes: one request, its token, and its failures.

/** Ms: a request without an answer must not block the others for ever. */
const TIMEOUT = 20_000;

/** Characters: browsers refuse keepalive requests above 64 KB. */
const KEEPALIVE_LIMIT = 20_000;

/** A failed request; `status` 0 means no answer, -1 an unexpected one. */
export class Failure extends Error {
  /**
   * @param {number} status
   * @param {string} detail
   */
  constructor(status, detail = "") {
    super(detail || `status ${status}`);
    this.status = status;
    this.detail = detail;
  }
}

/** @param {Response} response */
async function failureOf(response) {
  const body = await response.json().catch(() => null);
  return new Failure(response.status, typeof body?.error === "string" ? body.error : "");
}

/**
 * Requests to the judging routes under an address, as one annotator.
 *
 * A 401 is answered by asking for a new token and one more attempt; several that come meanwhile ask once.
 */
export class Network {
  /**
   * @param {string} address
   * @param {string} annotator
   */
  constructor(address, annotator) {
    this.address = address;
    this.annotator = annotator;
    this.token = "";
    /** @type {Promise<void> | null} */
    this.renewing = null;
  }

  /**
   * @param {string} route
   * @param {object} body
   */
  async send(route, body) {
    const text = JSON.stringify(body);
    try {
      return await fetch(`${this.address}/${route}`, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Cleverdon-Token": this.token },
        body: text,
        signal: AbortSignal.timeout(TIMEOUT),
        keepalive: text.length < KEEPALIVE_LIMIT, // a tab that is closed now still delivers
      });
    } catch {
      throw new Failure(0);
    }
  }

  /**
   * The answer of a route; throws a `Failure`.
   *
   * @param {string} route
   * @param {object} body
   * @returns {Promise<any>}
   */
  async post(route, body) {
    const { token } = this;
    let response = await this.send(route, body);
    if (response.status === 401) {
      if (this.token === token) await this.renewOnce();
      response = await this.send(route, body);
    }
    if (!response.ok) throw await failureOf(response);
    try {
      return await response.json();
    } catch {
      throw new Failure(-1);
    }
  }

  async renewOnce() {
    this.renewing ??= this.renew();
    try {
      await this.renewing;
    } finally {
      this.renewing = null;
    }
  }

  async renew() {
    const response = await this.send("token", { annotator: this.annotator });
    if (!response.ok) throw await failureOf(response);
    this.token = (await response.json()).token;
  }
}

/**
 * The cause of a failure as the end of a sentence.
 *
 * @param {unknown} error
 */
export function causeOf(error) {
  const { status, detail } = error instanceof Failure ? error : new Failure(-1);
  if (status === 0) return "there is no connection to the server";
  if (status === 401) return "you are signed out; reload this page to sign in again";
  if (status < 0) return "the server sent an unexpected answer";
  return detail.replace(/\.$/, "") || `server error (${status})`;
}
