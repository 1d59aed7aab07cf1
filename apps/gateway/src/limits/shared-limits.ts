import type { GatewayConfig } from "../config.ts";
import { gauge, type Reading } from "../platform/metrics.ts";
import type { Taken } from "../workers/news.ts";
import type { OtherGateways } from "../workers/other-gateways.ts";
import type { Peers } from "../workers/peers.ts";
import { FairTurns } from "./fair-turns.ts";
import { Limits } from "./limits.ts";
import { createPaceRefusals, type PaceRefusals } from "./pace-refusals.ts";
import { Sharing } from "./sharing.ts";

export type SharedLimits = {
  parts: { limits: Limits; paceRefusals: PaceRefusals; fairTurns: FairTurns };
  readings: Reading[];
  /** Takes what other processes have let in. */
  takeElsewhere: (taken: readonly Taken[]) => void;
  start: () => void;
  stop: () => void;
};

/** The limits of calls of this process, which others hear of as it hears of theirs (GW-8). */
export function createSharedLimits({
  config,
  peers,
  gateways,
}: {
  config: Pick<GatewayConfig, "callLimits" | "openLimits">;
  peers: Peers;
  gateways: OtherGateways;
}): SharedLimits {
  const sharing = new Sharing({ peers, gateways });
  const limits = new Limits({
    limits: config.callLimits,
    open: config.openLimits,
    onTaken: (entry, takenMs) => sharing.taken(entry, takenMs),
  });
  const fairTurns = new FairTurns();
  return {
    parts: { limits, paceRefusals: createPaceRefusals(limits), fairTurns },
    takeElsewhere(taken) {
      for (const [name, takenMs] of taken) limits.takenElsewhere(name, takenMs);
    },
    readings: [
      gauge("requests_waiting", "Requests that wait for their turn", () => fairTurns.size),
      {
        ...gauge("limit_entries", "Callers, servers and organizations that called lately", () => limits.size),
        merged: "max",
      },
      { ...gauge("limit_gateways", "Other gateways that share the limits", () => gateways.count), merged: "max" },
    ],
    start() {
      limits.start();
      sharing.start();
    },
    stop() {
      sharing.stop();
      limits.stop();
    },
  };
}
