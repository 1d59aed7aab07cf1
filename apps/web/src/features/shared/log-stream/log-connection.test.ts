import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openLogConnection } from "./log-connection.ts";

let opened: { readonly url: string; readonly lastEventId: string | null }[] = [];

beforeEach(() => {
  opened = [];
  vi.clearAllMocks();
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** The server's answer to each connection. */
const answer = (response: () => Response) =>
  vi.stubGlobal("fetch", async (url: string, { headers }: { headers: Record<string, string> }) => {
    opened.push({ url, lastEventId: headers["last-event-id"] ?? null });
    return response();
  });
const events = { onState: vi.fn(), onProblem: vi.fn(), onEvent: vi.fn() };

test("PRJ-3 a response that isn't a stream is retried every few seconds, not in a tight loop", async () => {
  answer(() => new Response("<p>Back soon</p>"));
  const close = openLogConnection("/api/builds/x/log", events);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(opened.length).toBeGreaterThan(1);
  expect(opened.length).toBeLessThan(6);
  close();
});

test("PRJ-3 a permanent refusal stops the retries and shows the reason; a temporary one is retried", async () => {
  const refusal = (code: string, status: number) => () =>
    Response.json({ error: { code, message: "Close a page." } }, { status });
  answer(refusal("not_found", 404));
  let close = openLogConnection("/gone", events);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(opened.map(({ url }) => url)).toEqual(["/gone"]);
  expect(events.onState).toHaveBeenLastCalledWith("refused");
  close();
  answer(refusal("limit_reached", 429));
  close = openLogConnection("/full", events);
  await vi.advanceTimersByTimeAsync(1000);
  expect(events.onState).toHaveBeenLastCalledWith("waiting");
  expect(events.onProblem).toHaveBeenLastCalledWith("Close a page. This page tries again automatically.");
  await vi.advanceTimersByTimeAsync(20_000);
  expect(opened.filter(({ url }) => url === "/full").length).toBe(2);
  close();
});

test("PRJ-3 a broken connection resumes after the last event; one that has ended is not reopened", async () => {
  const stream = (text: string) => () => new Response(text, { headers: { "content-type": "text/event-stream" } });
  answer(stream(': hello\n\nid: 7\nevent: line\ndata: {"line":7}\n\nid: 8\nevent: line\ndata: {"li'));
  const close = openLogConnection("/log", events);
  await vi.advanceTimersByTimeAsync(1000);
  expect(events.onEvent.mock.calls).toEqual([["line", '{"line":7}']]);
  expect(events.onState).toHaveBeenLastCalledWith("reconnecting");
  answer(stream("event: status\ndata: {}\n\nevent: end\ndata: {}\n\n"));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(opened).toEqual([
    { url: "/log", lastEventId: null },
    { url: "/log", lastEventId: "7" },
  ]);
  expect(events.onState).toHaveBeenLastCalledWith("ended");
  close();
});
