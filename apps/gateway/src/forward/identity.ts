import type { Principal } from "../policy/credentials.ts";

/**
 * Flat list of the headers that identify the caller to a server (GW-11); empty if the platform does not know the
 * caller. Role and email address belong to a person: an organization's key has neither.
 */
export function identityHeaders({ id, actor }: Principal, assertion: string | null): string[] {
  if (!actor) return [];
  const { type, organizationId, member } = actor;
  const headers = [
    "towpath-actor",
    asHeaderValue(id),
    "towpath-actor-type",
    type,
    "towpath-actor-organization",
    organizationId,
  ];
  if (member) {
    headers.push("towpath-actor-user", member.userId, "towpath-actor-role", asHeaderValue(member.role));
    headers.push("towpath-actor-email", asHeaderValue(member.email));
  }
  if (assertion !== null) headers.push("towpath-assertion", assertion);
  return headers;
}

/**
 * A text as a header value (RFC 9110 §5.5): every byte of its UTF-8 that is not visible ASCII, and `%`, is
 * percent-encoded (RFC 3986 §2.1), so that any URL decoder restores it. Ordinary addresses stay as they are.
 */
export function asHeaderValue(text: string): string {
  if (/^[!-$&-~]*$/.test(text)) return text;
  let encoded = "";
  for (const byte of Buffer.from(text, "utf8")) {
    const isPlain = byte > 0x20 && byte < 0x7f && byte !== 0x25;
    encoded += isPlain ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return encoded;
}
