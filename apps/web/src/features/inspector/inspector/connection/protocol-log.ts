/** One JSON-RPC message between the page and the server. */
export type ProtocolMessage = {
  readonly id: number;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly direction: "sent" | "received";
  readonly message: unknown;
  /** Of its JSON, in characters. */
  readonly size: number;
};

const limits = { messages: 500, size: 8_000_000 };

/** Adds a message, and drops the oldest above the page's limit. */
export function withMessage(
  log: readonly ProtocolMessage[],
  next: Pick<ProtocolMessage, "direction" | "message" | "time">,
  { messages, size } = limits,
): readonly ProtocolMessage[] {
  const entry = { ...next, id: (log.at(-1)?.id ?? 0) + 1, size: JSON.stringify(next.message).length };
  let room = size - entry.size;
  const kept = [...log]
    .reverse()
    .slice(0, messages - 1)
    .filter((each) => {
      room -= each.size;
      return room >= 0;
    });
  return [...kept.reverse(), entry];
}

/** A message's label: `tools/call`, `answer 3`, `error 3`. */
export function titleOf(message: unknown): string {
  if (typeof message !== "object" || message === null) return "message";
  const { method, id, error } = message as { method?: unknown; id?: unknown; error?: unknown };
  if (typeof method === "string") return method;
  return `${error === undefined ? "answer" : "error"} ${typeof id === "string" || typeof id === "number" ? id : ""}`.trim();
}
