import type { Rest } from "../call/answer.ts";
import { reply } from "../call/reply.ts";
import type { Admitted } from "../call/states.ts";

export const json = { status: 200, type: "application/json" } as const;
export const eventStream = { status: 200, type: "text/event-stream" } as const;

/**
 * Answers a client of a portal with JSON, or with a status only. Every answer names the session of the request;
 * `opened`: the one that it has opened.
 */
export function replyWith(
  admitted: Admitted,
  { status, opened }: { status: number; opened?: string },
  value?: unknown,
): Rest {
  const body = Buffer.from(value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value));
  const type = value === undefined ? null : json.type;
  return reply(admitted, { status, type, sessionId: opened ?? admitted.session?.id ?? null, body });
}
