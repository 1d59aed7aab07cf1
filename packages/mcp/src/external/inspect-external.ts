import { type AddressPolicy, createCheckedFetch, EgressError, type ResolveName } from "@towpath/egress";
import { McpClientError } from "../client/errors.ts";
import { readManifest } from "../client/read-manifest.ts";
import type { Manifest, ServerIcon } from "../manifest/index.ts";
import { type InspectionProblem, problemOf } from "./inspection-problem.ts";
import { isSseOnly } from "./sse-only.ts";

/** A server that somebody names by its URL. */
export type ExternalTarget = {
  readonly url: string;
  /** The header that it requires; null: none. `name` in lower case. */
  readonly credential: { readonly name: string; readonly value: string } | null;
};

export type Inspection =
  | { readonly ok: true; readonly manifest: Manifest; readonly icons: readonly ServerIcon[] }
  | { readonly ok: false; readonly problem: InspectionProblem };

type InspectOptions = {
  readonly policy: AddressPolicy;
  /** In total. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** For tests. */
  readonly resolve?: ResolveName;
};

const defaultTimeoutMs = 20_000;
const probeMs = 5000;

/**
 * Reads the manifest of an external server by a real handshake of its era (ORG-9). Connections go only to addresses
 * that the policy allows, redirects are not followed, and the credential goes to the URL's origin only. Never rejects
 * for what the server does.
 */
export async function inspectExternal(target: ExternalTarget, options: InspectOptions): Promise<Inspection> {
  const { timeoutMs = defaultTimeoutMs, signal } = options;
  const network = createCheckedFetch(options.policy, options.resolve);
  const seen: Seen = { egress: null, response: null };
  const origin = URL.canParse(target.url) ? new URL(target.url).origin : null;
  const headers = headersOf(target);
  const fetchOnce = async (url: string | URL, init?: RequestInit) => {
    if (new URL(url).origin !== origin)
      throw new EgressError("redirect", "The server names an address of another origin, which is not followed.");
    try {
      const response = await network.fetch(url, init);
      seen.response = response;
      return response;
    } catch (error) {
      if (error instanceof EgressError) seen.egress = error;
      throw error;
    }
  };
  try {
    const read = await readManifest(
      { url: target.url, headers, fetch: fetchOnce },
      { timeoutMs, ...(signal && { signal }) },
    );
    return { ok: true, manifest: read.manifest, icons: read.icons };
  } catch (error) {
    if (seen.egress) return { ok: false, problem: { code: seen.egress.problem, message: seen.egress.message } };
    if (!(error instanceof McpClientError)) return { ok: false, problem: invalidUrl };
    if (mayBeSse(error) && (await isSseOnly(network, target.url, { headers, timeoutMs: probeMs })))
      return { ok: false, problem: sseOnly };
    return {
      ok: false,
      problem: problemOf(error, { hasCredential: target.credential !== null, answer: seen.response }),
    };
  } finally {
    await network.close().catch(() => {});
  }
}

type Seen = { egress: EgressError | null; response: Response | null };

const headersOf = ({ credential }: ExternalTarget): Record<string, string> =>
  credential === null ? {} : { [credential.name]: credential.value };

const mayBeSse = ({ code }: McpClientError) => code === "not_mcp" || code === "not_found" || code === "unreachable";

const invalidUrl: InspectionProblem = {
  code: "invalid_url",
  message: "Enter the server's address as a URL, such as https://example.com/mcp.",
};

const sseOnly: InspectionProblem = {
  code: "sse_only",
  message:
    "This server supports only the HTTP+SSE transport of 2024, which is obsolete. Ask its provider for the " +
    "Streamable HTTP address, which often ends in /mcp in place of /sse.",
};
