import type { InstanceTiming } from "../config.ts";

/** Short times, so that tests see a whole life. */
export const quickTiming: InstanceTiming = {
  leaseMs: 300,
  contendedLeaseMs: 150,
  freezeAfterMs: 200,
  stopAfterMs: 1500,
  unneededAfterMs: 300,
  startTimeoutMs: 20_000,
  answerTimeoutMs: 1000,
  stopGraceMs: 1000,
  hurriedGraceMs: 1000,
  firstBackOffMs: 100,
  maxBackOffMs: 60_000,
  healthyAfterMs: 60_000,
};
