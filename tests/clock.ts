import { afterAll, beforeAll } from "vitest";

/**
 * The monotonic clock of this process, which tests move on: what lasts for a while has then lasted, without a wait.
 * Timers keep their pace. Call it at the top of a file, before the rig: the clock goes back once the rig is closed.
 */
export function openClock(): { pass(ms: number): void } {
  let passedMs = 0;
  beforeAll(() => {
    const now = performance.now.bind(performance);
    performance.now = () => now() + passedMs;
  });
  // Not a spy, which vitest puts back after each test: a running gateway would see its clock go back.
  afterAll(() => Reflect.deleteProperty(performance, "now"));
  return {
    pass: (ms) => {
      passedMs += ms;
    },
  };
}
