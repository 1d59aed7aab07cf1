import pRetry from "p-retry";
import type { z } from "zod";
import { GitHubError, isGitHubError } from "./errors.ts";
import { errorFromResponse } from "./response-error.ts";

export type GitHubRequest = {
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  /** Absolute. Built by `apiPath`, so that no part of it can climb to another endpoint. */
  readonly url: string;
  /** Whole header value. Goes to the URL's own origin only, whatever it redirects to. */
  readonly authorization?: string;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
};

/** Until the whole answer is here, or for a stream until its first byte. */
const timeoutMs = 30_000;
const retriesOfGet = 2;
const firstPauseMs = 250;
const redirectLimit = 4;
/** GitHub's largest JSON answers, trees, are cut at 7 MB. */
const bodyLimitBytes = 32 * 1024 * 1024;

/** One part of a path. Refuses what URL parsing would resolve to another place. */
function pathPart(value: string | number): string {
  const text = String(value);
  if (text === "" || text === "." || text === "..")
    throw new GitHubError("invalid", { detail: "not a usable path part" });
  return encodeURIComponent(text);
}

/** A path of the API from parts; each is escaped. */
export function apiPath(...parts: readonly (string | number)[]): string {
  return parts.map((part) => `/${pathPart(part)}`).join("");
}

function nameOf(request: GitHubRequest): string {
  return `${request.method} ${new URL(request.url).pathname}`;
}

function headersOf(request: GitHubRequest, withCredential: boolean): Headers {
  const headers = new Headers({
    accept: "application/vnd.github+json",
    "x-github-api-version": "2022-11-28",
    "user-agent": "towpath",
  });
  if (request.body !== undefined) headers.set("content-type", "application/json");
  if (withCredential && request.authorization) headers.set("authorization", request.authorization);
  return headers;
}

/**
 * Follows redirects by hand: GitHub answers 301 for renamed repositories and 302 for tarballs, the latter to another
 * host, which must not get the token (GH-2). Plain HTTP is never reached from HTTPS.
 */
async function follow(request: GitHubRequest, signal: AbortSignal): Promise<Response> {
  const origin = new URL(request.url).origin;
  let url = new URL(request.url);
  for (let hop = 0; hop <= redirectLimit; hop += 1) {
    const response = await fetch(url, {
      method: request.method,
      headers: headersOf(request, url.origin === origin),
      body: request.body === undefined ? undefined : JSON.stringify(request.body),
      redirect: "manual",
      signal,
    });
    const location = response.headers.get("location");
    if (response.status < 300 || response.status >= 400 || location === null) return response;
    await response.body?.cancel();
    const next = new URL(location, url);
    const isDowngrade = url.protocol === "https:" && next.protocol !== "https:";
    const mayFollow = request.method === "GET" || (next.origin === origin && [307, 308].includes(response.status));
    if (isDowngrade || !mayFollow) break;
    url = next;
  }
  throw new GitHubError("unexpected", { detail: `${nameOf(request)} redirected to where we do not follow` });
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > bodyLimitBytes) throw new GitHubError("unexpected", { detail: "answer is larger than 32 MB" });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

async function attempt<Result>(
  request: GitHubRequest,
  read: (response: Response, stopClock: () => void) => Promise<Result>,
): Promise<Result> {
  const clock = new AbortController();
  const timer = setTimeout(() => clock.abort(), timeoutMs);
  const signal = request.signal ? AbortSignal.any([clock.signal, request.signal]) : clock.signal;
  try {
    const response = await follow(request, signal);
    if (!response.ok) throw errorFromResponse(nameOf(request), response, await readText(response));
    return await read(response, () => clearTimeout(timer));
  } catch (error) {
    if (error instanceof GitHubError) throw error;
    // The caller's own abort is not GitHub's failure.
    request.signal?.throwIfAborted();
    const detail = `${nameOf(request)} ${clock.signal.aborted ? "timed out" : "got no answer"}`;
    throw new GitHubError("unavailable", { detail, cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** Only GET may be sent twice. */
const withRetries = <Result>(request: GitHubRequest, run: () => Promise<Result>): Promise<Result> =>
  pRetry(run, {
    retries: request.method === "GET" ? retriesOfGet : 0,
    minTimeout: firstPauseMs,
    shouldRetry: ({ error }) => isGitHubError(error, "unavailable"),
    signal: request.signal,
  });

export type JsonAnswer<Value> = { readonly value: Value; readonly link: string | null };

/** Sends, and parses the body by the schema; another shape is `unexpected`. GET is tried three times when GitHub is away. */
export async function requestJson<Schema extends z.ZodType>(
  request: GitHubRequest,
  schema: Schema,
): Promise<JsonAnswer<z.infer<Schema>>> {
  const { text, link } = await withRetries(request, () =>
    attempt(request, async (response) => ({ text: await readText(response), link: response.headers.get("link") })),
  );
  let json: unknown;
  try {
    json = text === "" ? null : JSON.parse(text);
  } catch (cause) {
    throw new GitHubError("unexpected", { detail: `${nameOf(request)} answered no JSON`, cause });
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return { value: parsed.data, link };
  const where = parsed.error.issues.map((issue) => issue.path.join(".")).join(", ");
  throw new GitHubError("unexpected", { detail: `${nameOf(request)} answered another shape at ${where}` });
}

/** The body as it comes. After the first byte only the request's own signal ends it. */
export async function requestStream(request: GitHubRequest): Promise<ReadableStream<Uint8Array>> {
  return withRetries(request, () =>
    attempt(request, async (response, stopClock) => {
      stopClock();
      if (response.body === null) throw new GitHubError("unexpected", { detail: `${nameOf(request)} has no body` });
      return response.body;
    }),
  );
}

/** A query parameter of the `rel="next"` link, null when there is none (RFC 8288). */
export function nextFromLink(link: string | null, parameter: string): string | null {
  const next = link?.split(",").find((part) => /;\s*rel="next"/.test(part));
  const url = next ? /<([^<>]+)>/.exec(next)?.[1] : undefined;
  return url ? new URL(url).searchParams.get(parameter) : null;
}
