import type { IncomingMessage } from "node:http";
import type { BlockList } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Rate } from "@towpath/limits";
import { clientAddress } from "../policy/client-address.ts";
import type { ServerAddress } from "../route/server-address.ts";
import type { Limits } from "./limits.ts";

/** Refusals that a network gets at once, as many clients may share an address. Further ones are held. */
const prompt: Rate = { perMinute: 3000, burst: 200 };
/** At random between these, a second on average: held for the same time, a burst of refusals would return as a burst. */
const minHoldMs = 500;
const maxHoldMs = 1500;

/** Resolves when a refusal with that HTTP status may be sent; undefined: at once. */
export type PaceRefusals = (request: IncomingMessage, status: number) => Promise<void> | undefined;

/**
 * Holds refusals of a network that causes many: they cost nearly as much as calls, so a flood of calls beyond a limit,
 * or of calls without credentials, must not become a flood of refusals (GW-8). A client waits for its answer before it
 * asks again on a connection, and its connections are limited. What was let in is never held.
 */
export function createPaceRefusals(parts: {
  limits: Limits;
  serverAddress: ServerAddress;
  proxies: BlockList;
}): PaceRefusals {
  return (request, status) => {
    // A server that is away is not its callers' fault.
    if (status < 400 || status >= 500) return undefined;
    const address = clientAddress(parts.serverAddress, request, parts.proxies);
    if (parts.limits.takeRefusal(address, prompt)) return undefined;
    return sleep(minHoldMs + Math.random() * (maxHoldMs - minHoldMs), undefined, { ref: false });
  };
}
