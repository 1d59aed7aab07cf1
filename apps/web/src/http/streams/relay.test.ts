import { TowpathError } from "@towpath/core/errors";
import { newId } from "@towpath/core/ids";
import { refusalCode } from "@towpath/core/testing";
import { expect, test } from "vitest";
import { relay } from "./relay.server.ts";
import type { StreamReader } from "./stream-reader.server.ts";

function readerOf(more: Partial<StreamReader> = {}): StreamReader {
  const actor = { kind: "user", userId: newId(), ipAddress: null } as const;
  return { ctx: { actor } as StreamReader["ctx"], check: async () => {}, checkEveryMs: 60_000, ...more };
}

const requestOf = (signal?: AbortSignal) => new Request("http://localhost/api/x", { ...(signal && { signal }) });

/** An endless answer until it is aborted, which records the abort. */
function endless() {
  const aborted = Promise.withResolvers<void>();
  const send = async (signal: AbortSignal) => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode("data: 1\n\n"));
        signal.addEventListener("abort", () => {
          aborted.resolve();
          controller.error(signal.reason);
        });
      },
    });
    return new Response(body, { status: 201, headers: { "content-type": "text/event-stream", "set-cookie": "a=b" } });
  };
  return { send, aborted: aborted.promise };
}

test("PRJ-4 an answer is passed on with its status, its bytes and the chosen headers only", async () => {
  const send = async () => new Response("hi", { status: 202, headers: { "mcp-session-id": "s", "set-cookie": "a=b" } });
  const answer = await relay(requestOf(), readerOf(), send, ["mcp-session-id"]);
  expect([answer.status, await answer.text()]).toEqual([202, "hi"]);
  expect(Object.fromEntries(answer.headers)).toEqual({
    "mcp-session-id": "s",
    "cache-control": "private, no-store",
    "x-accel-buffering": "no",
  });
});

test("PRJ-4 closing the page's request closes the server's at once, and so does losing access", async () => {
  const page = new AbortController();
  const first = endless();
  const answer = await relay(requestOf(page.signal), readerOf(), first.send, []);
  const read = answer.text();
  page.abort();
  await first.aborted;
  await expect(read).rejects.toThrow();
  const second = endless();
  await (await relay(requestOf(), readerOf(), second.send, [])).body?.cancel();
  await second.aborted;
  const third = endless();
  const check = async () => {
    throw new TowpathError("forbidden", "Forbidden");
  };
  await relay(requestOf(), readerOf({ check, checkEveryMs: 10 }), third.send, []);
  await third.aborted;
});

test("PRJ-4 a failure before an answer is thrown, and doesn't count as open", async () => {
  const reader = readerOf();
  const refuse = async () => {
    throw new TowpathError("upstream_unavailable", "unreachable");
  };
  for (let at = 0; at < 25; at++) {
    expect(await refusalCode(relay(requestOf(), reader, refuse, []))).toBe("upstream_unavailable");
  }
});
