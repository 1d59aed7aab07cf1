import type { z } from "zod";

/** The field that `organization.name` stands for, in a sentence. */
const nameOf = (path: readonly PropertyKey[] | undefined) => path?.map(String).join(".") || "The input";

const types: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  date: "a date",
  array: "a list",
  object: "an object",
  record: "an object",
};
const formats: Readonly<Record<string, string>> = {
  uuid: "an id, as answers of this API have them",
  url: "a URL",
  email: "an email address",
  datetime: "a time like 2026-01-31T12:00:00Z",
  date: "a date like 2026-01-31",
};
const units: Readonly<Record<string, readonly [one: string, more: string]>> = {
  string: ["character", "characters"],
  array: ["entry", "entries"],
  set: ["entry", "entries"],
};

/**
 * What is wrong with a field whose schema has no words of its own for it, for people: zod's own texts speak of types.
 * Undefined: zod's text is used.
 */
export function issueText(issue: z.core.$ZodRawIssue): string | undefined {
  const name = nameOf(issue.path);
  switch (issue.code) {
    case "invalid_type": {
      if (issue.input === undefined) return `${name} is missing.`;
      return types[issue.expected] && `${name} must be ${types[issue.expected]}.`;
    }
    case "too_small": {
      if (issue.origin in units && issue.minimum === 1) return `${name} must not be empty.`;
      return `${name} must ${bound(issue.origin, issue.inclusive === false ? "more than" : "at least", issue.minimum)}.`;
    }
    case "too_big":
      return `${name} must ${bound(issue.origin, issue.inclusive === false ? "less than" : "at most", issue.maximum)}.`;
    case "invalid_value":
      return `${name} must be ${issue.values.map((value) => JSON.stringify(value)).join(" or ")}.`;
    case "invalid_format":
      return formats[issue.format] && `${name} must be ${formats[issue.format]}.`;
    default:
      return undefined;
  }
}

function bound(origin: string, relation: string, limit: number | bigint): string {
  if (origin === "date") return `be ${relation} ${new Date(Number(limit)).toISOString()}`;
  const unit = units[origin];
  return unit ? `have ${relation} ${limit} ${unit[Number(limit) === 1 ? 0 : 1]}` : `be ${relation} ${limit}`;
}
