import { setTimeout as sleep } from "node:timers/promises";
import type { Rate } from "@towpath/limits";
import type { Limits } from "./limits.ts";

/** Refusals that a network gets at once, as many clients may share an address. Further ones are delayed. */
const prompt: Rate = { perMinute: 3000, burst: 200 };
/** The delay is random, a second on average: after equal delays, a burst of refusals would go out as a burst. */
const minHoldMs = 500;
const maxHoldMs = 1500;

/** Resolves when a refusal of a client with this address may be sent; undefined: at once. */
export type PaceRefusals = (address: string, status: number) => Promise<void> | undefined;

/**
 * Delays refusals of a network that causes many: they cost nearly as much as calls, so a flood of calls beyond a limit,
 * or without credentials, must not become a flood of refusals (GW-8). A client waits for its answer before it sends the
 * next request on a connection, and its connections are limited. Admitted calls are never delayed.
 */
export function createPaceRefusals(limits: Limits): PaceRefusals {
  return (address, status) => {
    // An unavailable server is not its callers' fault.
    if (status < 400 || status >= 500 || limits.takeRefusal(address, prompt)) return undefined;
    return sleep(minHoldMs + Math.random() * (maxHoldMs - minHoldMs), undefined, { ref: false });
  };
}
