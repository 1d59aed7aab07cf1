/** Members whose value is never kept: sealed state and answers of multi-round requests, and what names a secret. */
const secretMember =
  /^(?:requestState|inputResponses|authorization|proxy-authorization|cookie|set-cookie)$|passw(?:or)?d|secret|token(?!s$)|api[-_]?key|credential|private[-_]?key/i;
/** Protocol members that look like secrets by name but are not. */
const harmlessMember = /^(?:progressToken|maxTokens|nextPageToken)$/;
const schemaMember = /^(?:input|output|requested)Schema$/;
const redacted = "[redacted]";

/** A JSON value with `[redacted]` in place of members that are named like secrets, and of what is deeper than 64 levels. */
export function withoutSecretMembers(value: unknown, depth = 0, inSchema = false): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth > 64) return redacted;
  if (Array.isArray(value)) return value.map((item) => withoutSecretMembers(item, depth + 1, inSchema));
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      // In a JSON schema, `password` names a property whose value is a schema, not a secret.
      secretMember.test(name) && !harmlessMember.test(name) && !(inSchema && isObject(inner))
        ? redacted
        : withoutSecretMembers(inner, depth + 1, inSchema || schemaMember.test(name)),
    ]),
  );
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
