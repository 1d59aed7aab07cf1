import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { CallDeadline } from "./call-deadline.ts";

const never = new AbortController().signal;

test("CHAT-1 the time limit of a call stands still while the person is asked, also by two forms at once", async () => {
  const deadline = new CallDeadline(200, never);
  const first = deadline.pausedFor(() => sleep(600));
  await deadline.pausedFor(() => sleep(300));
  expect(deadline.signal.aborted).toBe(false);
  await first;
  expect(deadline.signal.aborted).toBe(false);
  await sleep(600);
  expect(deadline.signal.aborted).toBe(true);
});

test("CHAT-1 a stopped answer ends its call before its time limit", async () => {
  const stop = new AbortController();
  const deadline = new CallDeadline(60_000, stop.signal);
  stop.abort();
  expect(deadline.signal.aborted).toBe(true);
  deadline.end();
});
