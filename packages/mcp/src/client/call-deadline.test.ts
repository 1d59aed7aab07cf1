import { expect, onTestFinished, test, vi } from "vitest";
import { CallDeadline } from "./call-deadline.ts";

const never = new AbortController().signal;

test("CHAT-1 the time limit of a call stands still while the person is asked, also by two forms at once", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const deadline = new CallDeadline(200, never);
  const [one, other] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const asking = [one, other].map(({ promise }) => deadline.pausedFor(() => promise));
  await vi.advanceTimersByTimeAsync(300);
  one.resolve();
  await vi.advanceTimersByTimeAsync(300);
  other.resolve();
  await Promise.all(asking);
  await vi.advanceTimersByTimeAsync(199);
  expect(deadline.signal.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(deadline.signal.aborted).toBe(true);
});

test("CHAT-1 a stopped answer ends its call before its time limit", async () => {
  const stop = new AbortController();
  const deadline = new CallDeadline(60_000, stop.signal);
  stop.abort();
  expect(deadline.signal.aborted).toBe(true);
  deadline.end();
});
