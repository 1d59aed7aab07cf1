import type { Readable } from "node:stream";
import { parseExactly } from "@towpath/mcp/peek";

/** A JSON-RPC message. */
export type Message = Record<string, unknown>;

/** The events of a stream as they arrive. Rejects when it breaks off. */
export async function* eventsIn(body: Readable): AsyncGenerator<string> {
  body.setEncoding("utf8");
  const boundary = /\r?\n\r?\n/g;
  let text = "";
  for await (const chunk of body) {
    // Earlier text can only contain the beginning of a boundary.
    boundary.lastIndex = Math.max(0, text.length - 3);
    text += chunk;
    let begin = 0;
    for (let found = boundary.exec(text); found; found = boundary.exec(text)) {
      yield text.slice(begin, found.index);
      begin = boundary.lastIndex;
    }
    text = text.slice(begin);
  }
  if (text !== "") yield text;
}

/** The JSON-RPC messages in a JSON body, or in the events of a stream. Skips anything else. */
export function messagesIn(text: string): Message[] {
  const isStream = /^(?:event|data|id|retry|:)/.test(text.trimStart());
  const pieces = isStream ? text.split(/\r?\n\r?\n/).map(dataOf) : [text];
  return pieces.map(parsedMessage).filter((message) => message !== null);
}

/** Numbers that JavaScript would round. */
const inexact = /\d{16}|\d[eE]/;

/** Null: the text is no JSON-RPC message. `JSON.stringify` preserves its numbers. */
export function parsedMessage(text: string): Message | null {
  try {
    const value: unknown = inexact.test(text) ? parseExactly(text) : JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Message) : null;
  } catch {
    return null;
  }
}

/** The data lines of one event. */
export function dataOf(event: string): string {
  const lines = event.split(/\r?\n/).filter((line) => line.startsWith("data:"));
  return lines.map((line) => line.slice("data:".length).replace(/^ /, "")).join("\n");
}
