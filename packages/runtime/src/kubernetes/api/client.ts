import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { type Dispatcher, Pool } from "undici";
import type { Connection } from "./connection.ts";
import { errorOf, errorOfText, KubernetesError, unreachable } from "./errors.ts";
import { groups, type Kind, type New, type Objects, type Selector, type Stored, selectorText } from "./objects.ts";

export { KubernetesError } from "./errors.ts";

export type WatchEvent<K extends Kind> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: Stored<K> }
  /** Only the resource version of the object is set. */
  | { readonly type: "BOOKMARK"; readonly object: { readonly metadata: { readonly resourceVersion: string } } };

export type Watched<K extends Kind> = { readonly items: readonly Stored<K>[]; readonly resourceVersion: string };

const connectMs = 10_000;
const headersTimeout = 30_000;
/** Idle watches get a bookmark each minute. */
const watchSilenceMs = 150_000;
const watchSeconds = 600;
/** The API server is too busy and did nothing yet. */
const tooBusy = 429;
const maxBusyAttempts = 6;
/** It, or what stores its objects, is unreachable. */
const outages: ReadonlySet<number> = new Set([502, 503, 504]);
const maxErrorBytes = 64 * 1024;

type Query = Readonly<Record<string, string | number | boolean | undefined>>;
type Call = {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Query;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly bodyTimeout?: number;
  readonly signal?: AbortSignal;
};

export type ApiOptions = {
  /** Limit of each request but watches and logs, milliseconds. */
  readonly requestMs?: number;
  /** Awaited before each request that changes something, which it prevents by rejecting. */
  readonly beforeChange?: () => Promise<void>;
};

/** Requests about objects of one namespace. All reject with KubernetesError, or SandboxError `unreachable` in an outage. */
export class KubernetesApi {
  readonly namespace: string;
  readonly #connect: () => Promise<Connection>;
  readonly #options: ApiOptions;
  #opened: Promise<{ readonly connection: Connection; readonly pool: Pool }> | null = null;

  /** `connect`: called for the first request. */
  constructor(connect: () => Promise<Connection>, namespace: string, options: ApiOptions = {}) {
    this.namespace = namespace;
    this.#connect = connect;
    this.#options = options;
  }

  /** @throws KubernetesError `AlreadyExists`; 403 also if a quota is used up */
  async create<K extends Kind>(kind: K, object: New<K>): Promise<Stored<K>> {
    return await this.#json({ method: "POST", path: this.#path(kind), body: complete(kind, object) });
  }

  /** Null if there is none. */
  async get<K extends Kind>(kind: K, name: string): Promise<Stored<K> | null> {
    return await orNull(this.#json<Stored<K>>({ method: "GET", path: this.#path(kind, name) }));
  }

  async list<K extends Kind>(kind: K, selector: Selector): Promise<Watched<K>> {
    type List = { readonly items: Stored<K>[]; readonly metadata: { readonly resourceVersion: string } };
    const query = { labelSelector: selectorText(selector) };
    const { items, metadata } = await this.#json<List>({ method: "GET", path: this.#path(kind), query });
    return { items, resourceVersion: metadata.resourceVersion };
  }

  /**
   * Changes since `resourceVersion`, of a list or an event. Ends after some minutes; go on with another one from the last
   * version.
   *
   * @throws KubernetesError 410 if the version is too old: list again
   */
  async *watch<K extends Kind>(
    kind: K,
    selector: Selector,
    options: { readonly resourceVersion: string; readonly signal: AbortSignal },
  ): AsyncGenerator<WatchEvent<K>> {
    const query = {
      watch: true,
      labelSelector: selectorText(selector),
      resourceVersion: options.resourceVersion,
      allowWatchBookmarks: true,
      timeoutSeconds: watchSeconds,
    };
    const { signal } = options;
    const response = await this.#send({
      method: "GET",
      path: this.#path(kind),
      query,
      signal,
      bodyTimeout: watchSilenceMs,
    });
    for await (const line of linesOf(response.body)) {
      const event = JSON.parse(line);
      if (event.type === "ERROR") throw errorOf(event.object?.code ?? 500, event.object);
      yield event;
    }
  }

  /** Replaces an object of which nobody has changed the version that `object` names. @throws KubernetesError `Conflict` */
  async replace<K extends Kind>(kind: K, object: Stored<K>): Promise<Stored<K>> {
    const path = this.#path(kind, object.metadata.name);
    return await this.#json({ method: "PUT", path, body: complete(kind, object) });
  }

  /**
   * Merges an object into it (JSON merge patch), or changes it by operations (JSON patch). Null if there is no such object, or
   * a `test` of the operations fails: nothing has changed then.
   */
  async patch<K extends Kind>(kind: K, name: string, patch: object | readonly object[]): Promise<Stored<K> | null> {
    const isMerge = !Array.isArray(patch);
    const contentType = isMerge ? "application/merge-patch+json" : "application/json-patch+json";
    try {
      return await this.#json<Stored<K>>({ method: "PATCH", path: this.#path(kind, name), body: patch, contentType });
    } catch (error) {
      const without = isMerge ? [404] : [404, 409, 422];
      if (error instanceof KubernetesError && without.includes(error.status)) return null;
      throw error;
    }
  }

  /**
   * Begins its deletion; does nothing if it is gone. A pod gets SIGTERM, and SIGKILL after `graceSeconds` (at least 1: with
   * 0 the API server would forget a pod that still runs). `uid`: only if it is this one.
   */
  async delete(
    kind: Kind,
    name: string,
    options: { readonly graceSeconds?: number; readonly uid?: string } = {},
  ): Promise<void> {
    const { graceSeconds, uid } = options;
    const body = {
      apiVersion: "v1",
      kind: "DeleteOptions",
      propagationPolicy: "Background",
      ...(graceSeconds !== undefined && { gracePeriodSeconds: Math.max(1, Math.ceil(graceSeconds)) }),
      ...(uid !== undefined && { preconditions: { uid } }),
    };
    try {
      await this.#json({ method: "DELETE", path: this.#path(kind, name), body });
    } catch (error) {
      if (!(error instanceof KubernetesError && (error.status === 404 || error.status === 409))) throw error;
    }
  }

  /**
   * The output of a pod's container from its beginning, and what follows until it ends.
   *
   * @param options.previous that before its restart
   * @throws KubernetesError 400 if the container hasn't started
   */
  async logs(
    pod: string,
    container: string,
    options: { readonly signal?: AbortSignal; readonly previous?: boolean } = {},
  ): Promise<Readable> {
    const { signal, previous = false } = options;
    const query = { container, ...(previous ? { previous } : { follow: true }) };
    const path = `${this.#path("pods", pod)}/log`;
    return (await this.#send({ method: "GET", path, query, bodyTimeout: 0, ...(signal && { signal }) })).body;
  }

  async close(): Promise<void> {
    const opened = await this.#opened?.catch(() => null);
    await opened?.pool.destroy();
  }

  async #open() {
    this.#opened ??= this.#connect().then(
      (connection) => {
        const connect = { ...connection.tls, timeout: connectMs };
        // Each watch and each log that is followed keeps a connection.
        return { connection, pool: new Pool(connection.server, { connect, pipelining: 1 }) };
      },
      (error: unknown) => {
        this.#opened = null;
        throw error;
      },
    );
    return await this.#opened;
  }

  #path(kind: Kind, name?: string): string {
    const collection = `${groups[kind].path}/namespaces/${this.namespace}/${kind}`;
    return name === undefined ? collection : `${collection}/${encodeURIComponent(name)}`;
  }

  async #json<Answer>(call: Call): Promise<Answer> {
    const { requestMs } = this.#options;
    const limit = requestMs === undefined ? {} : { signal: AbortSignal.timeout(requestMs) };
    const { body } = await this.#send({ ...limit, ...call });
    return (await body.json()) as Answer;
  }

  async #send(call: Call): Promise<Dispatcher.ResponseData> {
    for (let attempt = 1; ; attempt++) {
      const response = await this.#sendOnce(call);
      if (response.statusCode < 300) return response;
      const text = (await response.body.text()).slice(0, maxErrorBytes);
      const refused = errorOfText(response.statusCode, text);
      if (outages.has(response.statusCode)) throw unreachable(refused);
      if (response.statusCode !== tooBusy || attempt === maxBusyAttempts) throw refused;
      await sleep(1000 * Number(response.headers["retry-after"] ?? 1), undefined, { signal: call.signal });
    }
  }

  async #sendOnce(call: Call): Promise<Dispatcher.ResponseData> {
    const {
      method,
      path,
      query = {},
      body,
      contentType = "application/json",
      bodyTimeout = headersTimeout,
      signal,
    } = call;
    const { connection, pool } = await this.#open();
    const token = await connection.token();
    if (method !== "GET") await this.#options.beforeChange?.();
    const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
    const headers = {
      // A log is plain text.
      accept: "application/json, */*",
      "user-agent": "towpath",
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { "content-type": contentType }),
    };
    try {
      return await pool.request({
        method,
        path,
        query: Object.fromEntries(given),
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
        headersTimeout,
        bodyTimeout,
        ...(signal && { signal }),
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw unreachable(error);
    }
  }
}

/** Lines of UTF-8 text, without line ends; the last one also without one. */
async function* linesOf(body: Readable): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of body.setEncoding("utf8")) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    yield* lines.filter((line) => line !== "");
  }
  if (rest !== "") yield rest;
}

const complete = <K extends Kind>(kind: K, object: Objects[K]) => ({
  apiVersion: groups[kind].apiVersion,
  kind: groups[kind].kind,
  ...object,
});

async function orNull<Answer>(answer: Promise<Answer>): Promise<Answer | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof KubernetesError && error.status === 404) return null;
    throw error;
  }
}
