/** Largest payload kept, bytes. A larger one is omitted entirely, since truncated JSON can't be redacted. */
export const captureBytes = 64 * 1024;

/** Members whose value is never kept: sealed state and answers of multi-round requests, and what names a secret. */
const secretMember =
  /^(?:requestState|inputResponses|authorization|proxy-authorization|cookie|set-cookie)$|passw(?:or)?d|secret|token(?!s$)|api[-_]?key|credential|private[-_]?key/i;
/** Protocol members that look like secrets by name but are not. */
const harmlessMember = /^(?:progressToken|maxTokens|nextPageToken)$/;
const schemaMember = /^(?:input|output|requested)Schema$/;
const redacted = "[redacted]";

/** A payload for the request log: parsed, with secrets replaced. Null when it is too big or no JSON. */
export function redactedPayload(body: Buffer | null): unknown {
  if (body === null || body.length === 0 || body.length > captureBytes) return null;
  try {
    return redact(JSON.parse(body.toString("utf8")), 0, false);
  } catch {
    return null;
  }
}

function redact(value: unknown, depth: number, inSchema: boolean): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth > 64) return redacted;
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1, inSchema));
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      // In a JSON schema, `password` names a property whose value is a schema, not a secret.
      secretMember.test(name) && !harmlessMember.test(name) && !(inSchema && isObject(inner))
        ? redacted
        : redact(inner, depth + 1, inSchema || schemaMember.test(name)),
    ]),
  );
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
