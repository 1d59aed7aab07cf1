/** Addresses of servers: by host (`https://{name}.example.com`) or by path (`http://localhost:8080/{name}`). GW-1. */
export type ServerAddress = {
  form: "host" | "path";
  /** Host form: the part after the label, with its dot. Path form: the host itself. Lower case, no port. */
  hostName: string;
  protocol: "http" | "https";
  /** With its colon; empty for the protocol's default. */
  port: string;
  /** Whether the instance is only reachable from its own machine. */
  isLoopback: boolean;
};

/** Where a request reaches a server: at its label, or at a domain of its own, in lower case (OPS-12). */
export type Place = { readonly label: string; readonly domain: string | null };

/**
 * The destination of a request, from Host and target. `path`: for the server, including the query, dots and escapes
 * resolved. `otherPath`: where servers share a host, the name of a well-known document without the server's prefix.
 */
export type Destination =
  | {
      kind: "server";
      label: string;
      domain: string | null;
      path: string;
      isMcp: boolean;
      isWellKnown: boolean;
      otherPath: string | null;
    }
  /** Where servers share a host: requests of OAuth clients to its root. */
  | { kind: "origin"; path: string }
  /** The gateway's own pages: no server's address. */
  | { kind: "platform"; path: string }
  | { kind: "unknown-host" }
  | { kind: "unknown-path" };

const labelPattern = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;
/** Bytes with the same meaning escaped or not (RFC 3986 §2.3). */
const unreserved = /[A-Za-z0-9._~-]/;
const brokenEscape = /%(?![0-9a-f]{2})/i;
/**
 * Path elements that parsers interpret differently: empty first segments, dot segments, backslashes, escaped slashes
 * and NUL, fragments.
 */
const ambiguous = /^\/\/|\/\.{1,2}(?:\/|$)|\\|%5c|%2f|%00|#/i;
/** No server can have these names: they are reserved or too short. */
const originPath = /^\/(?:authorize|token|register|\.well-known\/oauth-authorization-server)(?:\?|$)/;
const mcpPath = /^\/mcp\/*$/;
const loopbackNames = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** @throws Error when the template has no `{name}` where a label can be. */
export function parseServerUrl(template: string): ServerAddress {
  const marked = template.replace("{name}", "towpath-name");
  const url = URL.canParse(marked) ? new URL(marked) : null;
  if (!url || !/^https?:$/.test(url.protocol)) throw new Error("must be an http or https URL that contains {name}");
  const common = {
    protocol: url.protocol === "https:" ? ("https" as const) : ("http" as const),
    port: url.port === "" ? "" : `:${url.port}`,
  };
  if (url.hostname.startsWith("towpath-name.") && url.pathname === "/") {
    const hostName = url.hostname.slice("towpath-name".length);
    return { form: "host", hostName, ...common, isLoopback: hostName.endsWith(".localhost") };
  }
  if (url.pathname.replace(/\/$/, "") === "/towpath-name") {
    return { form: "path", hostName: url.hostname, ...common, isLoopback: isLoopbackName(url.hostname) };
  }
  throw new Error("must have {name} as the first label of its host or as its whole path");
}

export function isLoopbackName(hostName: string): boolean {
  return loopbackNames.has(hostName) || hostName.endsWith(".localhost");
}

/** The host of a place, without a port, and whether other servers share it. */
export function hostOf(
  address: ServerAddress,
  { label, domain }: Place,
): Pick<ServerAddress, "form"> & { host: string } {
  if (domain !== null) return { form: "host", host: domain };
  const { form, hostName } = address;
  return { form, host: form === "host" ? `${label}${hostName}` : hostName };
}

/**
 * Parses a request's destination. The path is decoded once, here, and the server gets that same path, so that it cannot
 * interpret it differently. `labelOfDomain`: the label of the server that a host name leads to by itself.
 */
export function destinationOf(
  address: ServerAddress,
  host: string | undefined,
  target: string,
  labelOfDomain: (hostName: string) => string | undefined = () => undefined,
): Destination {
  const decoded = decodeTarget(target);
  if (decoded === null) return { kind: "unknown-path" };
  const hostName = nameOf(host);
  // The instance's own names come first: it may have moved to where a server had a domain.
  const labelThere = isOwnName(address, hostName) ? undefined : labelOfDomain(hostName);
  if (labelThere !== undefined) return toServer({ label: labelThere, domain: hostName }, decoded);
  return address.form === "host" ? byHost(address, hostName, decoded) : byPath(address, hostName, decoded);
}

const isOwnName = ({ form, hostName: own }: ServerAddress, hostName: string): boolean =>
  form === "host" ? hostName.endsWith(own) : hostName === own;

/** A target with all meaningless escapes resolved; null if its path is ambiguous. */
function decodeTarget(target: string): string | null {
  // Absolute and asterisk forms of the request target are for proxies and for the server as a whole.
  if (!target.startsWith("/")) return null;
  const queryAt = target.indexOf("?");
  const raw = queryAt === -1 ? target : target.slice(0, queryAt);
  const hasEscapes = raw.includes("%");
  if (hasEscapes && brokenEscape.test(raw)) return null;
  const path = hasEscapes ? raw.replaceAll(/%([0-9a-f]{2})/gi, decodeUnreserved) : raw;
  if (ambiguous.test(path)) return null;
  return queryAt === -1 ? path : path + target.slice(queryAt);
}

function decodeUnreserved(escaped: string, hex: string): string {
  const character = String.fromCharCode(Number.parseInt(hex, 16));
  return unreserved.test(character) ? character : escaped;
}

function byHost(address: ServerAddress, hostName: string, target: string): Destination {
  if (!isOwnName(address, hostName)) {
    return target.startsWith("/-/") ? { kind: "platform", path: target } : { kind: "unknown-host" };
  }
  const label = hostName.slice(0, -address.hostName.length);
  return labelPattern.test(label) ? toServer({ label, domain: null }, target) : { kind: "unknown-host" };
}

function byPath(address: ServerAddress, hostName: string, target: string): Destination {
  // No label begins with a dash, so the gateway's own pages need no reserved names.
  if (target.startsWith("/-/") || target === "/") return { kind: "platform", path: target };
  if (!isOwnName(address, hostName) && !(address.isLoopback && isLoopbackName(hostName)))
    return { kind: "unknown-host" };
  if (originPath.test(target)) return { kind: "origin", path: target };
  const isWellKnown = target.startsWith("/.well-known/");
  // RFC 8414 and RFC 9728 put the path of the resource behind the well-known name: /.well-known/{what}/{label}/mcp.
  const labelFrom = isWellKnown ? target.indexOf("/", "/.well-known/".length) + 1 : 1;
  if (labelFrom === 0) return { kind: "unknown-path" };
  const labelTo = endOfSegment(target, labelFrom);
  const label = target.slice(labelFrom, labelTo).toLowerCase();
  if (!labelPattern.test(label)) return { kind: "unknown-path" };
  const rest = target.slice(labelTo);
  const place = { label, domain: null };
  if (isWellKnown) return toServer(place, target, target.slice(0, labelFrom - 1) + rest);
  return toServer(place, rest.startsWith("/") ? rest : `/${rest}`);
}

function toServer(place: Place, path: string, otherPath: string | null = null): Destination {
  const queryAt = path.indexOf("?");
  const pathName = queryAt === -1 ? path : path.slice(0, queryAt);
  // After a name in the path, an empty segment is not the first of the target, but the first that the server sees.
  if (pathName.startsWith("//")) return { kind: "unknown-path" };
  // Servers answer /mcp/ with a redirect to an address built from Host: remove the slash instead.
  const isMcp = mcpPath.test(pathName);
  const query = queryAt === -1 ? "" : path.slice(queryAt);
  const isWellKnown = pathName.startsWith("/.well-known/");
  return { kind: "server", ...place, path: isMcp ? `/mcp${query}` : path, isMcp, isWellKnown, otherPath };
}

function endOfSegment(target: string, from: number): number {
  for (let at = from; at < target.length; at++) {
    const byte = target.charCodeAt(at);
    if (byte === 0x2f || byte === 0x3f) return at;
  }
  return target.length;
}

/** Host without port and final dot, in lower case; empty when there is none. */
function nameOf(host: string | undefined): string {
  if (host === undefined) return "";
  const colon = host.lastIndexOf(":");
  const name = colon > host.lastIndexOf("]") ? host.slice(0, colon) : host;
  const lower = name.toLowerCase();
  return lower.endsWith(".") ? lower.slice(0, -1) : lower;
}
