import { expect, test, vi } from "vitest";
import { Gate } from "./slow-start.ts";

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
