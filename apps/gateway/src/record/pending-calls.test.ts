import { afterEach, expect, test, vi } from "vitest";
import { Answer } from "../call/answer.ts";
import type { Admitted, HeldCall } from "../call/states.ts";
import { PendingCalls } from "./pending-calls.ts";

afterEach(() => vi.useRealTimers());

/** A legacy call as far as PendingCalls looks at it. */
function callOf(session: string, id: number, { isInterrupted = false, principal = "ada" } = {}): Admitted {
  const message = { kind: "request", id, cancels: null };
  const answer = new Answer(null);
  if (isInterrupted) answer.peek = { resumable: true, answers: [] } as never;
  return {
    call: { request: { headers: {} } },
    received: { answer, route: {} },
    principal: { id: principal },
    body: Buffer.alloc(0),
    session: { key: session, canceled: null, onCanceled: null, resumes: null, resumedAnswer: null },
    peek: { ...message, messages: [message] },
  } as never;
}

function setUp() {
  const settled: HeldCall[] = [];
  const canceledElsewhere: unknown[] = [];
  const calls = new PendingCalls({
    onSettled: (call) => settled.push(call),
    cancelElsewhere: async (canceled) => canceledElsewhere.push(canceled),
    share: 1,
  });
  return { settled, canceledElsewhere, calls };
}

test("GW-7 a call is forgotten however forwarding ends, also by an unexpected error", async () => {
  const { calls, settled } = setUp();
  const failing = calls.track(callOf("s", 1, { isInterrupted: true }), async () => {
    expect(calls.size).toBe(1);
    throw new TypeError("a bug");
  });
  await expect(failing).rejects.toThrow("a bug");
  expect(await calls.track(callOf("s", 2), async () => "over")).toEqual({ rest: "over", isAwaited: false });
  expect([calls.size, settled]).toEqual([0, []]);
});

test("GW-7 a call whose stream ended early waits for its answer for a while, then its row is written", async () => {
  vi.useFakeTimers();
  const { calls, settled } = setUp();
  const call = callOf("s", 1, { isInterrupted: true });
  expect(await calls.track(call, async () => "over")).toMatchObject({ isAwaited: true });
  expect([calls.size, settled]).toEqual([1, []]);
  // It can still be canceled.
  expect(calls.cancel({ principal: "ada", session: "s", requestId: 1 })).toBe(true);
  vi.advanceTimersByTime(60_000);
  expect(calls.size).toBe(0);
  expect(settled.map(({ received }) => received)).toEqual([call.received]);
  expect(settled[0]?.session?.canceled).toEqual(new Set([1]));
});

test("GW-7 a cancellation is announced for another process's call, but not for this one's", async () => {
  const { calls, canceledElsewhere } = setUp();
  const canceling = (id: number): Admitted => {
    const call = callOf("s", 0);
    const message = { kind: "notification", id: null, cancels: id };
    return { ...call, peek: { ...message, messages: [message] } } as never;
  };
  const call = callOf("s", 1);
  await calls.track(call, async () => {
    await calls.track(canceling(1), async () => "over");
    await calls.track(canceling(2), async () => "over");
    return "over";
  });
  expect(call.session?.canceled).toEqual(new Set([1]));
  expect(canceledElsewhere).toEqual([{ principal: "ada", session: "s", requestId: 2 }]);
});

test("GW-7 two principals to whom a server gave one session id don't cancel each other's calls", async () => {
  const { calls } = setUp();
  const [ada, bob] = [callOf("s", 1), callOf("s", 1, { principal: "bob" })];
  await calls.track(ada, async () => {
    await calls.track(bob, async () => {
      calls.cancel({ principal: "ada", session: "s", requestId: 1 });
      return "over";
    });
    return "over";
  });
  expect([ada.session?.canceled, bob.session?.canceled]).toEqual([new Set([1]), null]);
});
