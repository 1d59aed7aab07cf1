import { claimAlert, deliverAlert, expandAlerts, releaseHeldAlerts } from "@towpath/core/operations/alert";
import type { Round } from "@towpath/role";
import { jobContext, type Services } from "../services.ts";

/** Messages that a worker sends at the same time, each to another channel: one that doesn't answer holds one of these. */
const sentAtOnce = 48;
/** How many of these may be for channels whose last attempts failed. */
const failingAtOnce = 32;
/** How often a running round looks for further messages. */
const lookEveryMs = 500;

/** Writes the messages of new events, and releases those that were held. */
export const alertRound = (services: Services): Round => ({
  name: "writing alerts",
  everyMs: 2_000,
  run: async (signal) => {
    const ctx = jobContext(services, "alerts");
    while (!signal.aborted && (await expandAlerts({ ctx })) > 0);
    await releaseHeldAlerts({ ctx });
  },
});

/** Sends messages that are due; ends when none is and all were answered. */
export const sendingRound = (services: Services): Round => ({
  name: "sending alerts",
  everyMs: 2_000,
  run: async (signal) => {
    const ctx = jobContext(services, "alerts");
    const sending = new Set<Promise<void>>();
    let failing = 0;
    const send = async (input: NonNullable<Awaited<ReturnType<typeof claimAlert>>>) => {
      const { delivery, channel } = input;
      const about = { message: delivery.id, channel: channel.id };
      await deliverAlert({ ctx, input }).catch((error: unknown) => {
        services.log.error({ err: error, ...about }, "an alert could not be sent; it is tried again");
      });
    };
    do {
      while (!signal.aborted && sending.size < sentAtOnce) {
        const claim = await claimAlert({ ctx, input: { withFailing: failing < failingAtOnce } });
        if (claim === null) break;
        const weight = claim.channel.failures > 0 ? 1 : 0;
        failing += weight;
        const one: Promise<void> = send(claim).finally(() => {
          sending.delete(one);
          failing -= weight;
        });
        sending.add(one);
      }
      if (sending.size > 0) await Promise.race([...sending, pause(lookEveryMs)]);
    } while (sending.size > 0);
  },
});

const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));
