import type { KeptState, LogFilters } from "../log-query.schema.ts";

// What writes a query; `query-text.ts` reads it.

/** The keys of a query, in the order in which it is written. */
export const queryKeys = [
  "tool",
  "prompt",
  "resource",
  "method",
  "status",
  "duration",
  "kept",
  "client",
  "user",
  "session",
  "deployment",
  "branch",
] as const;
export type QueryKey = (typeof queryKeys)[number];

/** As `keptStates` of the schema, which a page that only reads a query does without. */
export const keptValues = [
  "waiting",
  "fetched",
  "expired",
  "unknown",
  "canceled",
  "dropped",
] as const satisfies readonly KeptState[];

/** Of the free text, in characters. */
export const maxSearch = 512;

export type QueryPart = { readonly key: QueryKey | null; readonly value: string };

/** The filters as key and value, in the order in which they are written; free text has no key. */
export function queryParts(filters: LogFilters): QueryPart[] {
  const { methodType, target, status } = filters;
  const parts: QueryPart[] = [];
  if (methodType.startsWith("tool:")) parts.push({ key: "tool", value: methodType.slice("tool:".length) });
  else if (target !== undefined && methodType === "prompts/get") parts.push({ key: "prompt", value: target });
  else if (target !== undefined && methodType === "resources/read") parts.push({ key: "resource", value: target });
  else if (methodType !== "all" && methodType !== "") parts.push({ key: "method", value: methodType });
  if (status !== "all") parts.push({ key: "status", value: status });
  for (const key of ["duration", "kept", "client", "user", "session", "deployment", "branch"] as const)
    if (filters[key] !== undefined) parts.push({ key, value: filters[key] });
  if (filters.search !== undefined) parts.push({ key: null, value: filters.search });
  return parts;
}

/** The text that `parseQueryText` parses to these filters. */
export const formatQueryText = (filters: LogFilters): string => queryParts(filters).map(formatPart).join(" ");

/** One filter as typed, in quotes if it needs them. */
export function formatPart({ key, value }: QueryPart): string {
  // What `key://` begins is a URL, not a value.
  if (key !== null) return `${key}:${/^(?!\/\/)[^\s"]+$/.test(value) ? value : quoted(value)}`;
  return needsNoQuotes(value) ? value : quoted(value);
}

/** Whether a free text is read as itself: words with one space between them, none with a key or a quote at its start. */
const needsNoQuotes = (text: string): boolean =>
  text.length <= maxSearch && text.split(" ").every((word) => /^(?!"|[A-Za-z]+:(?!\/\/))\S+$/.test(word));

const quoted = (text: string) => `"${text.replace(/["\\]/g, "\\$&")}"`;
