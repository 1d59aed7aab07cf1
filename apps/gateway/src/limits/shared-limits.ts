import type { Reading } from "@towpath/telemetry";
import type { GatewayConfig } from "../config.ts";
import { gauge } from "../platform/metrics.ts";
import type { Taken } from "../workers/news.ts";
import type { OtherGateways } from "../workers/other-gateways.ts";
import type { Peers } from "../workers/peers.ts";
import { FairTurns } from "./fair-turns.ts";
import { Limits } from "./limits.ts";
import { createPaceRefusals } from "./pace-refusals.ts";
import { Sharing } from "./sharing.ts";

type Parts = {
  config: Pick<GatewayConfig, "callLimits" | "openLimits">;
  peers: Peers;
  gateways: OtherGateways;
};

/** The limits of calls in this process, shared with all other processes (GW-8). */
export function createSharedLimits({ config, peers, gateways }: Parts) {
  const sharing = new Sharing({ peers, gateways });
  const limits = new Limits({
    limits: config.callLimits,
    open: config.openLimits,
    onTaken: (entry, takenMs) => sharing.taken(entry, takenMs),
  });
  const fairTurns = new FairTurns();
  const readings: Reading[] = [
    gauge("requests_waiting", "Requests that wait for their turn", () => fairTurns.size),
    {
      ...gauge("limit_entries", "Callers, servers and organizations that called lately", () => limits.size),
      merged: "max",
    },
    { ...gauge("limit_gateways", "Other gateways that share the limits", () => gateways.count), merged: "max" },
  ];
  return {
    parts: { limits, paceRefusals: createPaceRefusals(limits), fairTurns },
    readings,
    /** Takes what other processes have let in. */
    takeElsewhere(taken: readonly Taken[]) {
      for (const [name, takenMs] of taken) limits.takenElsewhere(name, takenMs);
    },
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
