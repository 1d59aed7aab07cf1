export type DecodedToken = {
  readonly header: Record<string, unknown>;
  readonly claims: Record<string, unknown>;
};

/** Header and claims of a JWT in the compact form (RFC 7519 §3), not verified. */
export function decodeToken(token: string): DecodedToken {
  const [header = "", claims = ""] = token.split(".");
  return { header: decodePart(header), claims: decodePart(claims) };
}

function decodePart(part: string): Record<string, unknown> {
  const bytes = Uint8Array.from(atob(part.replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes));
}
