import { openAsBlob } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type BucketRequests, createBucketRequests, retried, textOf } from "./bucket-requests.ts";
import type { BucketConfig } from "./config.ts";
import { abortUnfinished, partBytes, putInParts } from "./multipart.ts";

/** Objects of a bucket below its prefix, by the rest of their keys. Calls throw ArtifactError `unavailable`. */
export type Bucket = {
  has(key: string): Promise<boolean>;
  /**
   * Stores a file as a whole, by one PUT or in parts, of which nothing is seen before the last. Signatures contain the
   * digest, so the service refuses other bytes.
   *
   * @param digest lower-case hex SHA-256
   */
  put(key: string, file: string, digest: string, options?: { readonly signal?: AbortSignal }): Promise<void>;
  /** Null: there is none. A connection that breaks is replaced where it broke. */
  get(key: string): Promise<AsyncIterable<Uint8Array> | null>;
  delete(key: string): Promise<void>;
  list(): AsyncIterable<string>;
  /**
   * Aborts uploads in parts that killed processes left, begun before a time. Resolves to their number.
   * @param isOurs says of which keys, as others may use the bucket
   */
  abortUnfinished(before: Date, isOurs: (key: string) => boolean): Promise<number>;
  /** An address for one request with this method and these headers, which needs no key. */
  sign(
    method: "GET" | "PUT",
    key: string,
    validMs: number,
    headers?: Readonly<Record<string, string>>,
  ): Promise<{ readonly url: string; readonly headers: Readonly<Record<string, string>> }>;
};

/** Before each request for the rest of an object. */
const resumePausesMs = [0, 1000, 4000];

/** `name`: what errors call it. */
export function openBucket(config: BucketConfig, name: string): Bucket {
  const requests = createBucketRequests(config, name);
  const { prefix } = config;
  const object = (key: string) => requests.url(`${prefix}${key}`);
  return {
    has: async (key) => (await requests.askShortly("HEAD", object(key))).ok,

    async put(key, file, digest, options = {}) {
      const body = await openAsBlob(file);
      if (body.size > partBytes) return putInParts(requests, `${prefix}${key}`, body, digest);
      const headers = { "x-amz-content-sha256": digest };
      const stored = await requests.ask("PUT", object(key), { body, headers, ...options });
      if (!stored.ok) throw requests.problem("PUT", "the bucket doesn't exist");
    },

    async get(key) {
      const response = await requests.ask("GET", object(key));
      return response.ok && response.body !== null ? readAll(requests, object(key), response) : null;
    },

    async sign(method, key, validMs, headers = {}) {
      const expiry = { "X-Amz-Expires": String(Math.ceil(validMs / 1000)) };
      return { url: await requests.sign(method, requests.url(`${prefix}${key}`, expiry), headers), headers };
    },

    delete: async (key) => void (await requests.askShortly("DELETE", object(key))),

    abortUnfinished: (before, isOurs) => abortUnfinished(requests, { prefix, before, isOurs }),

    async *list() {
      for (let after = prefix; ; ) {
        const response = await requests.askShortly(
          "GET",
          requests.url("", { "list-type": "2", prefix, "start-after": after }),
        );
        const page = await response.text();
        if (!response.ok) throw requests.problem("GET", "the bucket doesn't exist");
        const keys = textOf(page, "Key");
        for (const key of keys) yield key.slice(prefix.length);
        const last = keys.at(-1);
        if (last === undefined || textOf(page, "IsTruncated")[0] !== "true") return;
        after = last;
      }
    },
  };
}

/** The bytes of an object to their end, also over connections that break, as long as each brings more of them. */
async function* readAll(requests: BucketRequests, url: string, first: Response): AsyncIterable<Uint8Array> {
  const tag = first.headers.get("etag");
  let read = 0;
  let breaks = 0;
  for (let response = first; ; ) {
    // What was read already, of a service that ignores ranges.
    let known = response.status === 206 ? 0 : read;
    try {
      for await (const chunk of response.body ?? []) {
        const fresh = chunk.subarray(Math.min(known, chunk.length));
        known -= chunk.length - fresh.length;
        if (fresh.length === 0) continue;
        read += fresh.length;
        breaks = 0;
        yield fresh;
      }
      return;
    } catch (error) {
      const pauseMs = resumePausesMs[breaks];
      if (pauseMs === undefined) throw requests.problem("GET", "the connection broke", error);
      breaks += 1;
      await sleep(pauseMs);
    }
    const headers = { range: `bytes=${read}-`, ...(tag === null ? {} : { "if-match": tag }) };
    response = await retried(resumePausesMs, () => requests.ask("GET", url, { headers }));
    if (!response.ok) throw requests.problem("GET", "the object was deleted while it was read");
  }
}
