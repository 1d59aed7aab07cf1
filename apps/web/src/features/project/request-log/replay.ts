import type { RequestLogDetail } from "@towpath/logs";

/** A call of the log that can be made again in the inspector. */
export type Replay = {
  readonly tab: "tools" | "prompts";
  /** Name of the tool or prompt. */
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Whether the log has redacted a part of the arguments. */
  readonly isRedacted: boolean;
};

/** The log's replacement of a secret field, or of a variable's value. */
const replaced = /\[(?:redacted|[A-Z_][A-Z0-9_]*)\]/;

/** The call that a captured request made; null for other requests, and where the log has no or not all arguments. */
export function replayOf(
  entry: Pick<RequestLogDetail, "method" | "requestPayload" | "requestTruncated">,
): Replay | null {
  const tab = entry.method === "tools/call" ? "tools" : entry.method === "prompts/get" ? "prompts" : null;
  const params = memberOf(entry.requestPayload, "params");
  const name = memberOf(params, "name");
  if (tab === null || entry.requestTruncated || typeof name !== "string") return null;
  const given = memberOf(params, "arguments") ?? {};
  if (!isObject(given)) return null;
  return { tab, name, arguments: given, isRedacted: replaced.test(JSON.stringify(given)) };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}
