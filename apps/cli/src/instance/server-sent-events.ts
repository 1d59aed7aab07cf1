export type ServerSentEvent = {
  readonly event: string;
  readonly data: string;
  /** What a reader that reconnects sends as `Last-Event-ID`; null when the event has none. */
  readonly id: string | null;
};

/** Parses server-sent events (WHATWG HTML, section 9.2). A block that the stream's end cuts off is not an event. */
export async function* parseEvents(stream: ReadableStream<Uint8Array> | null): AsyncGenerator<ServerSentEvent> {
  let rest = "";
  for await (const text of stream?.pipeThrough(new TextDecoderStream()) ?? []) {
    const blocks = (rest + text).split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const fields = block.split(/\r?\n/).map((line) => /^(\w+): ?(.*)$/.exec(line));
      const valuesOf = (name: string) => fields.filter((field) => field?.[1] === name).map((field) => field?.[2] ?? "");
      const data = valuesOf("data");
      if (data.length === 0) continue;
      yield { event: valuesOf("event")[0] ?? "message", data: data.join("\n"), id: valuesOf("id")[0] ?? null };
    }
  }
}
