/** An event of one of our own streams (`event-stream.server.ts`). */
export type StreamEvent = { readonly id?: string; readonly event?: string; readonly data: string };

const fieldLine = /^(id|event|data): ?(.*)$/;

/**
 * Parses the text of a `text/event-stream` as our server writes it: lines end with a line feed, and only `id`, `event` and
 * `data` matter. A library for all servers would be a hundredth of what a page may load.
 */
export function streamEvents(): TransformStream<string, StreamEvent> {
  let rest = "";
  return new TransformStream({
    transform(text, controller) {
      const blocks = (rest + text).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = eventOf(block);
        if (event) controller.enqueue(event);
      }
    },
  });
}

/** Null for a comment, which keeps the connection open. */
function eventOf(block: string): StreamEvent | null {
  const fields: { id?: string; event?: string } = {};
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const [, name, value = ""] = fieldLine.exec(line) ?? [];
    if (name === "data") data.push(value);
    else if (name === "id" || name === "event") fields[name] = value;
  }
  return data.length > 0 || fields.event !== undefined ? { ...fields, data: data.join("\n") } : null;
}
