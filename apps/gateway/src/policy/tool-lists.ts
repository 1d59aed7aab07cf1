import { parseExactly } from "@towpath/mcp/peek";
import type { Admitted } from "../call/states.ts";

/** Rewrites the body of an answer as it passes. Throws `Withheld` for one that must not reach the client. */
export type BodyFilter = {
  /** A stream's bytes are sent as they arrive; otherwise nothing is sent before the end. */
  readonly isStream: boolean;
  /** Bytes to send now; null: none. */
  push(chunk: Buffer): Buffer | null;
  end(): Buffer;
};

/** An answer that can't be filtered: its list could name tools that must not be shown. */
export class Withheld extends Error {}

/** Size of one answer or event: as much as builds accept for all lists together. */
const maxBytes = 8 * 1024 * 1024;

/** `listedTools`: all others are removed; null: none is. `change`: what else is changed, where that is possible. */
export type AnswerEdits = Pick<Admitted, "listedTools" | "change">;

/**
 * Removes all other tools from answers to `tools/list`, page by page (GW-15): a page may become empty and still name
 * the next one. Everything else passes byte for byte. Null for an answer that is neither JSON nor an event stream.
 *
 * @throws Withheld for a compressed answer, unless no tools must be removed
 */
export function createAnswerFilter(
  edits: AnswerEdits,
  headers: Readonly<Record<string, string | string[] | undefined>>,
): BodyFilter | null {
  const type = String(headers["content-type"] ?? "").toLowerCase();
  const isStream = type.startsWith("text/event-stream");
  if (!isStream && !type.startsWith("application/json")) return null;
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    if (edits.listedTools === null) return null;
    throw new Withheld("it is compressed");
  }
  return isStream ? new EventFilter(edits) : new JsonFilter(edits);
}

class JsonFilter implements BodyFilter {
  readonly isStream = false;
  readonly #edits: AnswerEdits;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(edits: AnswerEdits) {
    this.#edits = edits;
  }

  push(chunk: Buffer): null {
    this.#bytes += chunk.length;
    if (this.#bytes > maxBytes) throw new Withheld("it is too large");
    this.#chunks.push(chunk);
    return null;
  }

  end(): Buffer {
    const body = Buffer.concat(this.#chunks);
    const filtered = filterText(body.toString("utf8"), this.#edits);
    return filtered === null ? body : Buffer.from(filtered);
  }
}

/** What is in the messages that are changed: answers, and the first of a subscription. */
const changed = ['"result"', '"notifications/subscriptions/acknowledged"'];

const LF = 0x0a;
const CR = 0x0d;

class EventFilter implements BodyFilter {
  readonly isStream = true;
  readonly #edits: AnswerEdits;
  #pending: Buffer = Buffer.alloc(0);
  /** The pending bytes up to here contain no end of an event. */
  #scanned = 0;

  constructor(edits: AnswerEdits) {
    this.#edits = edits;
  }

  push(chunk: Buffer): Buffer | null {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    const events: Buffer[] = [];
    for (let end = this.#endOfEvent(); end !== null; end = this.#endOfEvent()) {
      events.push(this.#filter(this.#pending.subarray(0, end)));
      this.#pending = this.#pending.subarray(end);
      this.#scanned = 0;
    }
    if (this.#pending.length > maxBytes) throw new Withheld("an event is too large");
    return events.length === 0 ? null : events.length === 1 ? (events[0] ?? null) : Buffer.concat(events);
  }

  /** Bytes after the last event are no event: clients discard them. */
  end(): Buffer {
    return this.#filter(this.#pending);
  }

  /** The index after the empty line that ends the first pending event; null if there is none yet. */
  #endOfEvent(): number | null {
    const bytes = this.#pending;
    for (let at = this.#scanned; at < bytes.length; at++) {
      if (bytes[at] !== LF && bytes[at] !== CR) continue;
      const next = at + (bytes[at] === CR && bytes[at + 1] === LF ? 2 : 1);
      if (next >= bytes.length) {
        this.#scanned = at;
        return null;
      }
      if (bytes[next] === CR && bytes[next + 1] === LF) return next + 2;
      if (bytes[next] === LF || bytes[next] === CR) return next + 1;
      at = next - 1;
    }
    this.#scanned = bytes.length;
    return null;
  }

  #filter(event: Buffer): Buffer {
    const { change } = this.#edits;
    const mayDiffer = change === null ? event.includes('"tools"') : changed.some((text) => event.includes(text));
    if (!mayDiffer) return event;
    const lines = event.toString("utf8").split(/\r\n|\n|\r/);
    const data = lines.flatMap((line) => (line.startsWith("data:") ? [line.slice(5).replace(/^ /, "")] : []));
    const filtered = filterText(data.join("\n"), this.#edits);
    if (filtered === null) return event;
    const first = lines.findIndex((line) => line.startsWith("data:"));
    const rewritten = lines.flatMap((line, at) =>
      at === first ? [`data: ${filtered}`] : line.startsWith("data:") ? [] : [line],
    );
    return Buffer.from(rewritten.join("\n"));
  }
}

/** A JSON-RPC answer, or a batch, with the edits made; null: it stays as it is. */
function filterText(text: string, { listedTools: tools, change }: AnswerEdits): string | null {
  if (text.trim() === "") return null;
  let value: unknown;
  try {
    value = parseExactly(text);
  } catch {
    if (tools === null) return null;
    throw new Withheld("it is not valid JSON");
  }
  const changed = (Array.isArray(value) ? value : [value]).flatMap((message) => [
    tools !== null && filterMessage(message, tools),
    change !== null && isObject(message) && change(message),
  ]);
  return changed.includes(true) ? JSON.stringify(value) : null;
}

/** Whether something was removed. */
function filterMessage(message: unknown, tools: readonly string[]): boolean {
  if (!isObject(message) || !isObject(message.result) || !Array.isArray(message.result.tools)) return false;
  const listed: unknown[] = message.result.tools;
  const kept = listed.filter((tool) => isObject(tool) && typeof tool.name === "string" && tools.includes(tool.name));
  message.result.tools = kept;
  return kept.length < listed.length;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
