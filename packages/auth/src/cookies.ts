import { deriveKey } from "@towpath/crypto";

/**
 * Prefix of all cookie names of an instance; a dot follows it.
 *
 * With HTTPS it starts with `__Host-`: browsers accept such a cookie only from this host, so no other host of the same
 * site can set it. Browsers reject that prefix on plain HTTP, where all ports and paths of a host share their cookies.
 * There the prefix contains a part derived from the instance's secret, so that neither a tenant's pages on the same
 * host nor other instances on the machine know which name to overwrite.
 */
export function cookiePrefixOf(instance: { readonly baseUrl: string; readonly secret: string }): string {
  if (instance.baseUrl.startsWith("https:")) return "__Host-towpath";
  const part = Buffer.from(deriveKey(instance.secret, "cookie-name").bytes.subarray(0, 8));
  return `towpath-${part.toString("hex")}`;
}

/**
 * Whether a request contains one of our cookies twice. Then another site has set one of them, for another path or a
 * parent domain, and we can't tell which is genuine: accepting either could sign the user in to an attacker's account.
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
