import { deriveKey } from "@towpath/crypto";

/**
 * The prefix of all cookie names of an instance; a dot follows.
 *
 * Behind TLS it begins with `__Host-`: browsers accept such a cookie only from this very host, so no neighbour on the
 * same site can set one. Browsers refuse it on plain http, where all ports and paths of a host share their cookies:
 * there the prefix contains a part derived from the instance's secret, so that neither pages that a tenant serves
 * beside the dashboard nor other instances on the same machine know which name to overwrite.
 */
export function cookiePrefixOf(instance: { readonly baseUrl: string; readonly secret: string }): string {
  if (instance.baseUrl.startsWith("https:")) return "__Host-towpath";
  const part = Buffer.from(deriveKey(instance.secret, "cookie-name").bytes.subarray(0, 8));
  return `towpath-${part.toString("hex")}`;
}

/**
 * Whether a request carries one of our cookies twice. Then somebody else set one of them, for another path or a parent
 * domain, and we can't tell which one is genuine: accepting either could sign the person in to a stranger's account.
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
