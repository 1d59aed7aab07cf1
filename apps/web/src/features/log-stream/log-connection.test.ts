import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openLogConnection } from "./log-connection.ts";

let opened: string[] = [];

/** A browser's EventSource whose every connection is refused. */
class RefusedEventSource {
  static readonly CLOSED = 2;
  readyState = 2;
  onerror: () => void = () => {};
  constructor(url: string) {
    opened.push(url);
    queueMicrotask(() => this.onerror());
  }
  addEventListener(): void {}
  close(): void {}
}

beforeEach(() => {
  opened = [];
  vi.useFakeTimers();
  vi.stubGlobal("EventSource", RefusedEventSource);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const answer = (response: () => Response) => vi.stubGlobal("fetch", async () => response());
const events = { onState: vi.fn(), onProblem: vi.fn(), onEvent: vi.fn() };

test("PRJ-3 a log that answers with something else than a stream is asked for every few seconds, not in a loop", async () => {
  answer(() => new Response("<p>Back soon</p>"));
  const close = openLogConnection("/api/builds/x/log", events);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(opened.length).toBeGreaterThan(1);
  expect(opened.length).toBeLessThan(6);
  close();
});

test("PRJ-3 a refusal for good ends the asking and says why; one for now is tried again", async () => {
  const refusal = (code: string, status: number) => () =>
    Response.json({ error: { code, message: "Close a page." } }, { status });
  answer(refusal("not_found", 404));
  let close = openLogConnection("/gone", events);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(opened).toEqual(["/gone"]);
  expect(events.onState).toHaveBeenLastCalledWith("refused");
  close();
  answer(refusal("limit_reached", 429));
  close = openLogConnection("/full", events);
  await vi.advanceTimersByTimeAsync(1000);
  expect(events.onState).toHaveBeenLastCalledWith("waiting");
  expect(events.onProblem).toHaveBeenLastCalledWith("Close a page. This page tries again automatically.");
  await vi.advanceTimersByTimeAsync(20_000);
  expect(opened.filter((url) => url === "/full").length).toBe(2);
  close();
});
