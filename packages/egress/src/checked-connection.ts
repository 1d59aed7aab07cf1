import { lookup as lookupByDns } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import type { AddressPolicy } from "./address-policy.ts";
import { EgressError } from "./egress-error.ts";

type Protocol = "https:" | "http:";

/** Resolves a name to all of its addresses; rejects for a name that has none. */
export type ResolveName = (hostname: string) => Promise<readonly { address: string; family: number }[]>;

const resolveByDns: ResolveName = (hostname) =>
  new Promise((done, fail) => {
    lookupByDns(hostname, { all: true, verbatim: true }, (error, found) => (error ? fail(error) : done(found)));
  });

/**
 * The URL of a server that a tenant names, unless its text forbids a connection. A name is checked when it is resolved,
 * at each connection: see `checkedLookup`.
 *
 * @throws EgressError `invalid_url`; `address_not_allowed` for an address in place of a name
 */
export function checkServerUrl(text: string, policy: AddressPolicy): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw new EgressError("invalid_url", "Enter the server's address as a URL, such as https://example.com/mcp.");
  }
  if (url.username || url.password || url.hash) {
    throw new EgressError("invalid_url", "The URL must have no user name, password or fragment.");
  }
  const host = hostOf(url);
  if (isIP(host) && !policy.allows(host, url.protocol)) throw notAllowed(host, url.protocol);
  return url;
}

/**
 * The `lookup` of sockets to a server: resolves its name, refuses it when any of its addresses is not allowed, and gives
 * the socket the addresses that were checked. No later resolution can replace them (DNS rebinding).
 */
export function checkedLookup(
  policy: AddressPolicy,
  protocol: Protocol,
  resolve: ResolveName = resolveByDns,
): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (found) => {
        const [first] = found;
        if (!first) return callback(nameNotFound(hostname), "");
        if (!found.every(({ address }) => policy.allows(address, protocol)))
          return callback(notAllowed(hostname, protocol), "");
        const all = options.all === true;
        if (all) callback(null, [...found]);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => callback(nameNotFound(hostname, error), ""),
    );
  };
}

/** The name or address in a URL, in the form that sockets take. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, "");

const nameNotFound = (hostname: string, cause?: unknown) =>
  new EgressError("name_not_found", `There is no host named ${hostname}.`, cause);

function notAllowed(host: string, protocol: Protocol): EgressError {
  const plain =
    protocol === "http:" ? " Without TLS (http), only hosts in networks that the operator has allowed." : "";
  return new EgressError("address_not_allowed", `${host} is not a host on the public internet.${plain}`);
}

const tlsCode = /^(?:ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|EPROTO$)/;
const connectCode = /^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|ETIMEDOUT|EACCES|EPERM)$/;

/**
 * Why no connection to a host was made, so that the server can't have received any part of the request; null if it may
 * have. `error`: of a socket or of undici.
 */
export function connectFailure(error: unknown, host: string): EgressError | null {
  if (error instanceof EgressError) return error;
  if (!(error instanceof Error)) return null;
  if (error instanceof AggregateError) {
    const each = error.errors.map((one) => connectFailure(one, host));
    return each.every((one) => one !== null) ? (each[0] ?? null) : null;
  }
  const { code = "", syscall } = error as NodeJS.ErrnoException;
  if (code === "UND_ERR_CONNECT_TIMEOUT" || (code === "ETIMEDOUT" && syscall === "connect"))
    return new EgressError("timeout", `${host} did not accept the connection in time.`, error);
  if (tlsCode.test(code)) return tlsFailure(code, host, error);
  if (
    syscall === "connect" ||
    syscall === "getaddrinfo" ||
    connectCode.test(code) ||
    /^UND_ERR_(CLOSED|DESTROYED)$/.test(code)
  )
    return new EgressError("unreachable", `Could not connect to ${host}.`, error);
  return error.cause === undefined ? null : connectFailure(error.cause, host);
}

function tlsFailure(code: string, host: string, cause: Error): EgressError {
  const reason =
    code === "CERT_HAS_EXPIRED"
      ? "its certificate has expired"
      : code === "ERR_TLS_CERT_ALTNAME_INVALID"
        ? "its certificate is for another name"
        : /SELF_SIGNED|UNABLE_TO_/.test(code)
          ? "its certificate is not signed by an authority that is trusted here"
          : `the TLS handshake failed (${code})`;
  return new EgressError("tls", `No secure connection to ${host}: ${reason}.`, cause);
}
