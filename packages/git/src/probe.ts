import { TowpathError } from "@towpath/core/errors";
import type { GitCredential } from "@towpath/core/ports";
import type { CheckedFetch } from "@towpath/egress";
import { type Endpoint, parseEndpoint, userOf } from "./endpoint.ts";
import { credentialRefused, noRepository, notGit, publicProblem, unavailable } from "./problems.ts";

const suffix = "/info/refs";
const query = "?service=git-upload-pack";
const advertisement = "application/x-git-upload-pack-advertisement";
const maxRedirects = 3;

type Token = Extract<GitCredential, { kind: "token" }>;

/** The `Authorization` header of a token. */
export function authorizationOf(token: Token, host: string): string {
  return `Basic ${Buffer.from(`${userOf(token, host)}:${token.token}`).toString("base64")}`;
}

/**
 * Finds a repository by following redirects, each checked, since git follows none. The credential is sent to the given
 * origin only.
 *
 * @throws TowpathError that says why no repository can be read there
 */
export async function probe(
  endpoint: Endpoint,
  token: Token | null,
  { fetch }: CheckedFetch,
  options: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
): Promise<Endpoint> {
  let at = endpoint;
  for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
    const sent = token !== null && at.origin === endpoint.origin ? token : null;
    const response = await request(at, sent, fetch, options);
    await response.body?.cancel();
    if (response.status < 300 || response.status >= 400) return settled(at, response, sent, endpoint);
    at = redirected(at, response, token !== null);
  }
  throw notGit(endpoint.host);
}

async function request(
  at: Endpoint,
  token: Token | null,
  fetch: CheckedFetch["fetch"],
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
): Promise<Response> {
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    return await fetch(`${at.url}${suffix}${query}`, {
      headers: {
        accept: "*/*",
        "git-protocol": "version=2",
        // Some hosts recognize Git by this name.
        "user-agent": "git/2 (towpath)",
        ...(token !== null && { authorization: authorizationOf(token, at.host) }),
      },
      redirect: "manual",
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
    });
  } catch (error) {
    signal?.throwIfAborted();
    if (deadline.aborted) throw unavailable(`${at.host} did not answer within ${timeoutMs / 1000} seconds.`, error);
    const problem = publicProblem(error, at.host);
    throw problem instanceof TowpathError ? problem : unavailable(`${at.host} broke the connection.`, error);
  }
}

function settled(at: Endpoint, { status, headers }: Response, sent: Token | null, first: Endpoint): Endpoint {
  if (status === 200) {
    if ((headers.get("content-type") ?? "").startsWith(advertisement)) return at;
    throw notGit(at.host);
  }
  if (status === 401 || status === 403) throw sent ? credentialRefused(at.host, "token") : needsSignIn(at, first);
  if (status === 404 || status === 410) throw noRepository(at.host, sent !== null);
  if (status === 429) throw unavailable(`${at.host} limits how often it may be asked.`);
  if (status >= 500) throw unavailable(`${at.host} answered with status ${status}.`);
  throw notGit(at.host);
}

function needsSignIn(at: Endpoint, first: Endpoint): TowpathError {
  if (at.origin === first.origin) return noRepository(at.host, false);
  return new TowpathError(
    "not_found",
    `The repository has moved to ${at.url}, which asks for a sign-in. Enter that URL, and a token or deploy key for it.`,
  );
}

function redirected(from: Endpoint, { headers }: Response, hasCredential: boolean): Endpoint {
  const location = headers.get("location");
  const url = location !== null && URL.canParse(location, from.url) ? new URL(location, from.url) : null;
  if (url?.protocol === "http:" && from.protocol === "https")
    throw new TowpathError(
      "invalid_input",
      `${from.host} redirects to an address without TLS (http), which is not followed. Enter the repository's https URL.`,
    );
  // Redirected to a sign-in page, as some hosts do for private repositories, or anywhere else.
  if (!url?.pathname.endsWith(suffix)) throw noRepository(from.host, hasCredential);
  return parseEndpoint(`${url.protocol}//${url.host}${url.pathname.slice(0, -suffix.length)}`);
}
