import { expect, test, vi } from "vitest";
import type { Lease } from "./instance-lease.ts";
import { Gate, SlowStart } from "./slow-start.ts";
import { alreadyRunning } from "./start-attempts.ts";

const callsOf = (gate: Gate, count: number) => {
  const sent = { count: 0 };
  for (let at = 0; at < count; at++) {
    const turn = gate.enter();
    const send = () => {
      sent.count += 1;
    };
    if (turn) void turn.then(send);
    else send();
  }
  return sent;
};

test("GW-13 a server that has just started gets four calls, two more with each answer, and the rest after two seconds", async () => {
  vi.useFakeTimers();
  try {
    const gate = new Gate();
    const sent = callsOf(gate, 100);
    expect(sent.count).toBe(4);
    gate.answered();
    await vi.advanceTimersByTimeAsync(0);
    expect(sent.count).toBe(6);
    for (let answers = 0; answers < 6; answers++) gate.answered();
    await vi.advanceTimersByTimeAsync(0);
    expect(sent.count).toBe(18);
    await vi.advanceTimersByTimeAsync(2000);
    expect(sent.count).toBe(100);
    expect(callsOf(gate, 50).count).toBe(50);
  } finally {
    vi.useRealTimers();
  }
});

test("GW-13 only a server that was started, and for two seconds only, has a gate for its calls", () => {
  vi.useFakeTimers();
  try {
    const starts = new SlowStart();
    const started = { start: { ...alreadyRunning, outcome: "started" } } as Lease;
    const gate = starts.gateOf(started);
    expect(gate).toBeInstanceOf(Gate);
    expect(starts.gateOf(started)).toBe(gate);
    vi.advanceTimersByTime(2000);
    expect([started, { start: alreadyRunning } as Lease].map((lease) => starts.gateOf(lease))).toEqual([null, null]);
  } finally {
    vi.useRealTimers();
  }
});
