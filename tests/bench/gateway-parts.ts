// The gateway's own code for every call, compared with the library that could replace it: `node
// tests/bench/gateway-parts.ts`. Own code is kept only where it is several times faster; for event streams with large
// answers, which a library buffers whole.

import { ResponsePeek } from "@towpath/mcp/peek";
import { createParser } from "eventsource-parser";
import { v7 } from "uuid";
import { newRequestId } from "../../apps/gateway/src/record/request-id.ts";

/** Nanoseconds per run, after a warm-up. */
function nanosecondsOf(runs: number, work: (run: number) => void): number {
  for (let run = 0; run < runs / 4; run++) work(run);
  const from = process.hrtime.bigint();
  for (let run = 0; run < runs; run++) work(run);
  return Number(process.hrtime.bigint() - from) / runs;
}

/** An event stream with one answer of about this size, in chunks like a socket's. */
function chunksOf(bytes: number): Buffer[] {
  const result = { content: [{ type: "text", text: "x".repeat(bytes) }] };
  const stream = Buffer.from(`event: message\nid: 7\ndata: ${JSON.stringify({ jsonrpc: "2.0", id: 1, result })}\n\n`);
  const chunks: Buffer[] = [];
  for (let at = 0; at < stream.length; at += 65_536) chunks.push(stream.subarray(at, at + 65_536));
  return chunks;
}

function peekOf(chunks: readonly Buffer[]): void {
  const peek = new ResponsePeek({ ids: [1], format: "sse", captureBytes: 0 });
  for (const chunk of chunks) peek.push(chunk);
  peek.end({ isWhole: true });
}

function parse(chunks: readonly Buffer[]): void {
  const decoder = new TextDecoder();
  const parser = createParser({ onEvent: ({ data }) => JSON.parse(data) });
  for (const chunk of chunks) parser.feed(decoder.decode(chunk, { stream: true }));
}

const now = Date.now();
const rows = [
  {
    part: "id of a row",
    own: nanosecondsOf(1_000_000, (run) => void newRequestId(now + (run >> 5))),
    library: nanosecondsOf(1_000_000, (run) => void v7({ msecs: now + (run >> 5) })),
    "library's name": "uuid",
  },
  ...[100, 4_000, 200_000].map((bytes) => {
    const chunks = chunksOf(bytes);
    const runs = Math.min(200_000, Math.round(400_000_000 / bytes));
    return {
      part: `answer of ${bytes} bytes in an event stream`,
      own: nanosecondsOf(runs, () => peekOf(chunks)),
      library: nanosecondsOf(runs, () => parse(chunks)),
      "library's name": "eventsource-parser, JSON.parse",
    };
  }),
];
console.table(
  rows.map(({ own, library, ...row }) => ({
    ...row,
    "own, ns": Math.round(own),
    "library, ns": Math.round(library),
    "library of own": (library / own).toFixed(1),
  })),
);
