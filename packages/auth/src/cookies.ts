import { hkdfSync } from "node:crypto";

/**
 * What the names of all cookies of an instance begin with; a dot follows.
 *
 * Behind TLS it is `__Host-`: browsers take such a cookie only from this host itself, so no neighbour on the same site
 * can set one. Browsers refuse that on plain http, where every port and path of a host shares one jar: there the name
 * holds a part that is made from the instance's secret, so that pages which a tenant serves beside the dashboard, and
 * other instances on the same machine, do not know which name to overwrite.
 */
export function cookiePrefixOf(instance: { readonly baseUrl: string; readonly secret: string }): string {
  if (instance.baseUrl.startsWith("https:")) return "__Host-towpath";
  const part = Buffer.from(hkdfSync("sha256", instance.secret, "", "towpath/cookie/v1", 8));
  return `towpath-${part.toString("hex")}`;
}

/**
 * Whether a request brings a cookie of ours twice. Then somebody else has set one of them, for another path or a parent
 * domain, and nobody can tell which one is the person's: taking either could sign her in to a stranger's account.
 */
export function hasRepeatedCookie(headers: Headers, prefix: string): boolean {
  const seen = new Set<string>();
  for (const cookie of (headers.get("cookie") ?? "").split(";")) {
    const name = cookie.split("=", 1)[0]?.trim() ?? "";
    if (!name.startsWith(`${prefix}.`)) continue;
    if (seen.has(name)) return true;
    seen.add(name);
  }
  return false;
}
