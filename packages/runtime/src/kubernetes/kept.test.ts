import { expect, test, vi } from "vitest";
import { kept } from "./kept.ts";

test("RUN-7 a result is asked for again when it is old, a bad one sooner, and nobody waits but for the first", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  try {
    const results = ["bad", "good", "later"];
    let asked = 0;
    const latest = kept(async () => results[asked++] ?? "", {
      isGood: (result) => result === "good",
      goodMs: 100,
      badMs: 10,
    });
    expect(await Promise.all([latest(), latest()])).toEqual(["bad", "bad"]);
    vi.advanceTimersByTime(10);
    expect([await latest(), asked]).toEqual(["bad", 2]);
    expect(await latest()).toBe("good");
    vi.advanceTimersByTime(99);
    expect([await latest(), asked]).toEqual(["good", 2]);
    vi.advanceTimersByTime(1);
    await latest();
    expect([await latest(), asked]).toEqual(["later", 3]);
  } finally {
    vi.useRealTimers();
  }
});
