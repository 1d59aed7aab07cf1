import { openAsBlob } from "node:fs";
import { AwsClient } from "aws4fetch";
import type { BucketConfig } from "./config.ts";
import { ArtifactError } from "./port.ts";

type Method = "GET" | "HEAD" | "PUT" | "DELETE";

/** For requests without a body in either direction, and for pages of a listing. */
const shortMs = 30_000;

/** Objects of a bucket below its prefix, by the rest of their keys. Calls throw ArtifactError `unavailable`. */
export type Bucket = {
  has(key: string): Promise<boolean>;
  /**
   * Stores a file by one PUT, as a whole, so that nothing partial is ever seen or left; services take 5 GB at once. The
   * signature of the request contains the digest, so the service refuses other bytes.
   *
   * @param digest lower-case hex SHA-256
   */
  put(key: string, file: string, digest: string, options?: { readonly signal?: AbortSignal }): Promise<void>;
  /** Null: there is none. */
  get(key: string): Promise<AsyncIterable<Uint8Array> | null>;
  delete(key: string): Promise<void>;
  list(): AsyncIterable<string>;
  /** An address for one request with this method and these headers, which needs no key. */
  sign(
    method: "GET" | "PUT",
    key: string,
    validMs: number,
    headers?: Readonly<Record<string, string>>,
  ): Promise<{ readonly url: string; readonly headers: Readonly<Record<string, string>> }>;
};

/** `name`: what errors call it. */
export function openBucket(
  { url: bucket, prefix, region, accessKeyId, secretAccessKey }: BucketConfig,
  name: string,
): Bucket {
  const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: "s3", retries: 4 });
  const object = (key: string) => `${bucket}/${prefix}${key}`;
  const unavailable = (method: Method, what: string, cause?: unknown) =>
    new ArtifactError("unavailable", `The ${name} failed to answer a ${method} request: ${what.trim()}.`, { cause });

  /** The response to a request: success, or that there is no such object. @throws ArtifactError `unavailable` */
  async function ask(method: Method, url: string, init: RequestInit = {}): Promise<Response> {
    const send = () => client.fetch(url, { method, ...init });
    // Retried once: the service may have closed the connection just when it was reused.
    const response = await send()
      .catch(send)
      .catch((error: unknown) => {
        throw unavailable(method, "got no answer", error);
      });
    if (response.ok || response.status === 404) return response;
    throw unavailable(method, `${response.status} ${textOf(await response.text(), "Code")[0] ?? ""}`);
  }
  const askShortly = (method: Method, url: string) => ask(method, url, { signal: AbortSignal.timeout(shortMs) });

  async function* readAll(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    try {
      yield* body;
    } catch (error) {
      throw unavailable("GET", "the connection broke", error);
    }
  }

  return {
    has: async (key) => (await askShortly("HEAD", object(key))).ok,

    async put(key, file, digest, options = {}) {
      const body = await openAsBlob(file);
      const headers = { "x-amz-content-sha256": digest };
      const stored = await ask("PUT", object(key), { body, headers, ...options });
      if (!stored.ok) throw unavailable("PUT", "the bucket doesn't exist");
    },

    async get(key) {
      const { ok, body } = await ask("GET", object(key));
      return ok && body !== null ? readAll(body) : null;
    },

    async sign(method, key, validMs, headers = {}) {
      const url = new URL(object(key));
      url.searchParams.set("X-Amz-Expires", String(Math.ceil(validMs / 1000)));
      const signed = await client.sign(url, { method, headers, aws: { signQuery: true } });
      return { url: signed.url, headers };
    },

    delete: async (key) => void (await askShortly("DELETE", object(key))),

    async *list() {
      for (let after = prefix; ; ) {
        const query = new URLSearchParams({ "list-type": "2", prefix, "start-after": after });
        const response = await askShortly("GET", `${bucket}/?${query}`);
        const page = await response.text();
        if (!response.ok) throw unavailable("GET", "the bucket doesn't exist");
        const keys = textOf(page, "Key");
        for (const key of keys) yield key.slice(prefix.length);
        const last = keys.at(-1);
        if (last === undefined || textOf(page, "IsTruncated")[0] !== "true") return;
        after = last;
      }
    },
  };
}

/** Texts of all elements with this name, which contain no others; the requested ones have no escapes. */
const textOf = (xml: string, name: string): string[] =>
  xml
    .split(`<${name}>`)
    .slice(1)
    .map((rest) => rest.slice(0, Math.max(rest.indexOf("<"), 0)));
