import { hostOf, type Place, type ServerAddress } from "../route/server-address.ts";

// Browsers store cookies by host name, ignoring port and path: tenants that share a host could read and set their
// neighbours' cookies and the dashboard's. There, a tenant's cookies carry its label in their name and its path, and it
// receives no others.

/** Where a browser stores a server's cookies, and who shares that place. */
export type Site =
  /** A host of its own, such as weather.example.com. */
  | { form: "host"; host: string }
  /** One host for all servers, and the dashboard's too on a single machine: `/{label}`. */
  | { form: "path"; label: string; isMcp: boolean; cookiesSent: string | undefined };

export function siteOf(
  address: ServerAddress,
  { isMcp, cookiesSent, ...place }: Place & { isMcp: boolean; cookiesSent: string | undefined },
): Site {
  const { form, host } = hostOf(address, place);
  return form === "host" ? { form, host } : { form, label: place.label, isMcp, cookiesSent };
}

/** Cookies of the dashboard, and of the forge of earlier releases: a browser sends them to every port of a host. */
const ownCookie = /^\s*(?:__secure-|__host-)?(?:towpath|forge_)/i;
const mayBeOwnCookie = /towpath|forge_/i;
/** Cookies of one tenant. Browsers keep about 180 per host and drop the oldest of any tenant. */
const maxCookiesOfTenant = 20;

/** A Cookie header for the server; empty if none of the cookies are its own. */
export function cookiesForServer(value: string, site: Site): string {
  if (site.form === "path") {
    const prefix = prefixOf(site.label);
    return ownOf(value, prefix)
      .map((cookie) => cookie.slice(prefix.length))
      .join("; ");
  }
  if (!mayBeOwnCookie.test(value)) return value;
  return value
    .split(";")
    .filter((cookie) => !ownCookie.test(cookie))
    .join(";")
    .trim();
}

/**
 * The Set-Cookie headers of one answer, for the browser. A cookie without a name is dropped: browsers send its value as
 * if it were a name and a value, so it could pose as any other.
 */
export function cookiesForClient(values: readonly string[], site: Site): string[] {
  const passed = values.filter((value) => /^\s*[^=;\s][^=;]*=/.test(value) && !ownCookie.test(value));
  if (site.form === "host") return passed.map((value) => withoutWiderDomain(value, site.host));
  const prefix = prefixOf(site.label);
  const names = new Set(ownOf(site.cookiesSent ?? "", prefix).map(nameOf));
  return passed.flatMap((value) => {
    const cookie = `${prefix}${value.trimStart()}`;
    const name = nameOf(cookie);
    if (!names.has(name) && names.size >= maxCookiesOfTenant) return [];
    names.add(name);
    return [`${withoutAttributes(cookie, isPlaceAttribute)}; Path=/${site.label}`];
  });
}

/** No label contains a tilde, and no cookie of the platform begins with one. */
function prefixOf(label: string): string {
  return `~${label}~`;
}

function ownOf(cookieHeader: string, prefix: string): string[] {
  if (!cookieHeader.includes(prefix)) return [];
  return cookieHeader
    .split(";")
    .map((cookie) => cookie.trim())
    .filter((cookie) => cookie.startsWith(prefix));
}

function nameOf(cookie: string): string {
  return cookie.slice(0, cookie.indexOf("=")).trimEnd();
}

function withoutWiderDomain(value: string, host: string): string {
  if (!/;\s*domain/i.test(value)) return value;
  return withoutAttributes(value, (attribute) => {
    const domain = /^\s*domain\s*=\s*\.?(.*?)\s*$/i.exec(attribute)?.[1];
    return domain !== undefined && domain.toLowerCase() !== host;
  });
}

function isPlaceAttribute(attribute: string): boolean {
  return /^\s*(?:domain|path)\s*(?:=|$)/i.test(attribute);
}

function withoutAttributes(value: string, isDropped: (attribute: string) => boolean): string {
  const [cookie, ...attributes] = value.split(";");
  return [cookie, ...attributes.filter((attribute) => !isDropped(attribute))].join(";");
}
