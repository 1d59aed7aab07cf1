import { TowpathError } from "@towpath/core/errors";
import { newId } from "@towpath/core/ids";
import { refusalCode } from "@towpath/core/testing";
import { expect, test } from "vitest";
import { eventStream, type Send } from "./event-stream.server.ts";
import type { StreamReader } from "./stream-reader.server.ts";

function readerOf(more: Partial<StreamReader> = {}): StreamReader {
  const actor = { kind: "user", userId: newId(), ipAddress: null } as const;
  return { ctx: { actor } as StreamReader["ctx"], check: async () => {}, checkEveryMs: 60_000, ...more };
}

const request = () => new Request("http://localhost/api/builds/x/log");
const open = (reader: StreamReader, produce: (send: Send, signal: AbortSignal) => Promise<void>, maxLagMs?: number) =>
  eventStream(request(), reader, produce, maxLagMs === undefined ? {} : { maxLagMs });
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

const line = "x".repeat(1024);

test("PRJ-3 production waits for the reader, who finally gets everything", async () => {
  let produced = 0;
  const total = 2000;
  const response = open(readerOf(), async (send, signal) => {
    while (produced < total && !signal.aborted) {
      produced += 1;
      await send({ event: "line", data: line, id: produced });
    }
  });
  // 64 KiB are buffered, not 2 MB: then production stands still.
  for (let before = -1; before < produced; await pause(0)) before = produced;
  expect(produced).toBeLessThan(100);
  const text = await response.text();
  expect(produced).toBe(total);
  expect(text.match(/^event: line$/gm)?.length).toBe(total);
  expect(text).toContain(`id: ${total}\n`);
});

test("PRJ-3 a reader that reads nothing for too long is disconnected", async () => {
  const ended = Promise.withResolvers<void>();
  const response = open(
    readerOf(),
    async (send, signal) => {
      for (let id = 1; !signal.aborted; id++) await send({ event: "line", data: line, id });
      ended.resolve();
    },
    50,
  );
  await ended.promise;
  await expect(response.text()).rejects.toThrow();
});

test("PRJ-3 a user can open 20 streams and no more; other users are not affected", async () => {
  const reader = readerOf();
  const stay = (_send: Send, signal: AbortSignal) => untilAborted(signal);
  const opened = Array.from({ length: 20 }, () => open(reader, stay));
  expect(await refusalCode((async () => open(reader, stay))())).toBe("limit_reached");
  const other = open(readerOf(), stay);
  await opened[0]?.body?.cancel();
  await pause(0);
  const again = open(reader, stay);
  for (const response of [...opened.slice(1), other, again]) await response.body?.cancel();
});

test("PRJ-3 errors in a stream are sent to the reader", async () => {
  const response = open(readerOf(), async (send) => {
    await send({ event: "line", data: "first", id: 1 });
    throw new TowpathError("not_found", "Not Found: there is no such build.");
  });
  const text = await response.text();
  expect(text).toContain('event: line\ndata: "first"');
  expect(text).toContain('event: problem\ndata: {"code":"not_found","message":"Not Found: there is no such build."}');
});

test("PRJ-3 a reader that loses access gets an error, and the stream ends", async () => {
  let checks = 0;
  const check = async () => {
    checks += 1;
    if (checks === 2) throw new TowpathError("unauthenticated", "Not authenticated");
  };
  let stopped = false;
  const response = open(readerOf({ check, checkEveryMs: 20 }), async (send, signal) => {
    while (!signal.aborted) {
      await send({ event: "line", data: "more" });
      await pause(5);
    }
    stopped = true;
  });
  const text = await response.text();
  expect(text.trimEnd().split("\n\n").at(-1)).toBe(
    'event: problem\ndata: {"code":"unauthenticated","message":"Not authenticated"}',
  );
  await expect.poll(() => stopped).toBe(true);
});
