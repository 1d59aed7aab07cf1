import pRetry from "p-retry";
import type { z } from "zod";
import { dateOf, errorFromResponse, GitHubError, isGitHubError } from "./errors.ts";

/** Like the global `fetch` with `redirect: "manual"`; it is also used to follow redirects. */
export type Reach = (url: URL, init: RequestInit) => Promise<Response>;

export type GitHubRequest = {
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  /** Absolute. Build it with `apiPath`, so that no part can lead to another endpoint. */
  readonly url: string;
  /** Header value. Sent to the URL's origin only, never to where it redirects. */
  readonly authorization?: string;
  readonly body?: unknown;
  /** How the host is reached; default: like any. */
  readonly reach?: Reach | undefined;
  /** ETag of an earlier answer: see `requestIfChanged`. */
  readonly ifNoneMatch?: string;
  readonly signal?: AbortSignal;
};

const notModified = 304;

/** For the whole response, or for a stream's first byte. */
const timeoutMs = 30_000;
const maxRetriesOfGet = 2;
const retryDelayMs = 250;
const maxRedirects = 4;
/** GitHub truncates its largest JSON responses, trees, at 7 MB. */
const maxBodyBytes = 32 * 1024 * 1024;

/** One part of a path. Rejects parts that URL parsing would resolve to another path. */
function pathPart(value: string | number): string {
  const text = String(value);
  if (text === "" || text === "." || text === "..")
    throw new GitHubError("invalid", { detail: "not a valid path part" });
  return encodeURIComponent(text);
}

/** Builds an API path from parts and escapes each. */
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
  if (request.ifNoneMatch !== undefined) headers.set("if-none-match", request.ifNoneMatch);
  if (withCredential && request.authorization) headers.set("authorization", request.authorization);
  return headers;
}

/**
 * Follows redirects itself: GitHub answers 301 for renamed repositories and 302 for tarballs, the latter to another
 * host, which must not get the token (GH-2). Never follows from HTTPS to plain HTTP.
 */
async function follow(request: GitHubRequest, signal: AbortSignal): Promise<Response> {
  const origin = new URL(request.url).origin;
  let url = new URL(request.url);
  for (let hop = 0; hop <= maxRedirects; hop += 1) {
    const response = await (request.reach ?? fetch)(url, {
      method: request.method,
      headers: headersOf(request, url.origin === origin),
      ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
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
  const detail = `${nameOf(request)} redirected to a URL that we don't follow`;
  throw new GitHubError("unexpected", { detail, url: request.url });
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBodyBytes) throw new GitHubError("unexpected", { detail: "the response is larger than 32 MB" });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

async function attempt<Result>(
  request: GitHubRequest,
  read: (response: Response, clearTimer: () => void) => Promise<Result>,
): Promise<Result> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), timeoutMs);
  const signal = request.signal ? AbortSignal.any([timeout.signal, request.signal]) : timeout.signal;
  try {
    const response = await follow(request, signal);
    const isExpected = response.ok || (response.status === notModified && request.ifNoneMatch !== undefined);
    if (!isExpected)
      throw errorFromResponse({ call: nameOf(request), url: request.url }, response, await readText(response));
    return await read(response, () => clearTimeout(timer));
  } catch (error) {
    if (error instanceof GitHubError) throw error;
    // If the caller aborted, don't blame GitHub.
    request.signal?.throwIfAborted();
    const detail = `${nameOf(request)} ${timeout.signal.aborted ? "timed out" : "got no response"}`;
    throw new GitHubError("unavailable", { detail, cause: error, url: request.url });
  } finally {
    clearTimeout(timer);
  }
}

/** Retries only GET, which has no effects. */
const withRetries = <Result>(request: GitHubRequest, run: () => Promise<Result>): Promise<Result> =>
  pRetry(run, {
    retries: request.method === "GET" ? maxRetriesOfGet : 0,
    minTimeout: retryDelayMs,
    shouldRetry: ({ error }) => isGitHubError(error, "unavailable"),
    signal: request.signal,
  });

export type JsonResponse<Value> = {
  readonly value: Value;
  readonly link: string | null;
  /** The host's clock. */
  readonly date: Date | null;
};

/**
 * Sends a request and parses the body with the schema; a mismatch is `unexpected`. Retries GET when GitHub is
 * unavailable.
 */
export async function requestJson<Schema extends z.ZodType>(
  request: Omit<GitHubRequest, "ifNoneMatch">,
  schema: Schema,
): Promise<JsonResponse<z.infer<Schema>>> {
  return parsed(request, await send(request), schema);
}

/** The same for a conditional GET; null: not modified, which doesn't count toward the rate limit. */
export async function requestIfChanged<Schema extends z.ZodType>(
  request: GitHubRequest,
  schema: Schema,
): Promise<(JsonResponse<z.infer<Schema>> & { readonly etag: string | null }) | null> {
  const answer = await send(request);
  if (answer.status === notModified) return null;
  return { ...parsed(request, answer, schema), etag: answer.etag };
}

type Answer = {
  readonly status: number;
  readonly text: string;
  readonly link: string | null;
  readonly date: Date | null;
  readonly etag: string | null;
};

const send = (request: GitHubRequest): Promise<Answer> =>
  withRetries(request, () =>
    attempt(request, async (response) => ({
      status: response.status,
      text: await readText(response),
      link: response.headers.get("link"),
      date: dateOf(response),
      etag: response.headers.get("etag"),
    })),
  );

function parsed<Schema extends z.ZodType>(
  request: GitHubRequest,
  { text, link, date }: Answer,
  schema: Schema,
): JsonResponse<z.infer<Schema>> {
  const { url } = request;
  let json: unknown;
  try {
    json = text === "" ? null : JSON.parse(text);
  } catch (cause) {
    throw new GitHubError("unexpected", { detail: `${nameOf(request)} returned no JSON`, cause, url });
  }
  const value = schema.safeParse(json);
  if (value.success) return { value: value.data, link, date };
  const where = value.error.issues.map((issue) => issue.path.join(".")).join(", ");
  throw new GitHubError("unexpected", { detail: `${nameOf(request)} returned an unexpected shape at ${where}`, url });
}

/** The body as a stream. After the first byte only the request's own signal ends it. */
export async function requestStream(request: GitHubRequest): Promise<ReadableStream<Uint8Array>> {
  return withRetries(request, () =>
    attempt(request, async (response, clearTimer) => {
      clearTimer();
      if (response.body === null) throw new GitHubError("unexpected", { detail: `${nameOf(request)} has no body` });
      return response.body;
    }),
  );
}

/** A query parameter of the `rel="next"` link; null when there is none (RFC 8288). */
export function nextFromLink(link: string | null, parameter: string): string | null {
  const next = link?.split(",").find((part) => /;\s*rel="next"/.test(part));
  const url = next ? /<([^<>]+)>/.exec(next)?.[1] : undefined;
  return url ? new URL(url).searchParams.get(parameter) : null;
}
