import { Agent, fetch as undiciFetch } from "undici";
import type { AddressPolicy } from "./address-policy.ts";
import { checkedLookup, checkServerUrl, connectFailure, hostOf, type ResolveName } from "./checked-connection.ts";
import { EgressError } from "./egress-error.ts";

export type CheckedFetch = {
  /**
   * Like the global one, but only to addresses that the policy allows, and without following redirects.
   *
   * @throws EgressError if no connection was made, and for a redirect unless `returnsRedirects`
   */
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  readonly close: () => Promise<void>;
};

const connectMs = 5000;

/** `ca`: certificates (PEM) of the only authorities that a host is trusted by; absent: the public ones. */
type FetchOptions = { readonly returnsRedirects?: boolean; readonly ca?: string };

/** A `fetch` for one conversation with a server that a tenant names. Each connection is checked again. */
export function createCheckedFetch(
  policy: AddressPolicy,
  resolve?: ResolveName,
  { returnsRedirects = false, ca }: FetchOptions = {},
): CheckedFetch {
  const agentFor = (protocol: "https:" | "http:") => {
    const lookup = checkedLookup(policy, protocol, resolve);
    return new Agent({ connect: { lookup, timeout: connectMs, ...(ca !== undefined && { ca }) } });
  };
  const agents = { "https:": agentFor("https:"), "http:": agentFor("http:") };
  // Node bundles an older undici whose fetch cannot use these agents; only their types differ.
  const request = undiciFetch as unknown as (url: URL, init: object) => Promise<Response>;
  return {
    async fetch(given, init) {
      const url = checkServerUrl(String(given), policy);
      const dispatcher = agents[url.protocol as keyof typeof agents];
      const response = await request(url, { ...init, dispatcher, redirect: "manual" }).catch((error: unknown) => {
        throw connectFailure(error, hostOf(url)) ?? error;
      });
      if (response.status < 300 || response.status >= 400 || returnsRedirects) return response;
      await response.body?.cancel();
      throw redirected(url, response.headers.get("location"));
    },
    close: async () => {
      await Promise.all(Object.values(agents).map((agent) => agent.destroy()));
    },
  };
}

function redirected(url: URL, location: string | null): EgressError {
  const to = location !== null && URL.canParse(location, url.href) ? new URL(location, url.href) : null;
  const where = to ? ` to ${`${to.origin}${to.pathname}`.slice(0, 300)}` : "";
  return new EgressError("redirect", `${url.host} redirects${where}. Enter the address that it redirects to.`);
}
