import type { Notifications } from "@towpath/db/notifications";
import type { Pool } from "pg";
import type { GatewayConfig } from "../config.ts";
import type { Reading } from "../platform/metrics.ts";
import type { Peers } from "../workers/peers.ts";
import { FairTurns } from "./fair-turns.ts";
import { Limits } from "./limits.ts";
import { createPaceRefusals, type PaceRefusals } from "./pace-refusals.ts";
import { Sharing } from "./sharing.ts";

export type SharedLimits = {
  policies: { limits: Limits; paceRefusals: PaceRefusals; fairTurns: FairTurns };
  readings: Reading[];
  start: () => void;
  stop: () => void;
};

/** The limits of calls of this process, which others hear of as it hears of theirs (GW-8). */
export function createSharedLimits(parts: {
  config: Pick<
    GatewayConfig,
    "callLimits" | "openLimits" | "gatewayId" | "workerIndex" | "serverAddress" | "connections"
  >;
  peers: Peers;
  pool: Pool;
  notifications: Notifications;
}): SharedLimits {
  const { config, peers, pool, notifications } = parts;
  const limits: Limits = new Limits({
    limits: config.callLimits,
    open: config.openLimits,
    onTaken: (entry, takenMs) => sharing.taken(entry, takenMs),
  });
  const sharing = new Sharing({
    ...{ peers, pool, notifications },
    gatewayId: config.gatewayId,
    speaksForGateway: config.workerIndex === 0,
    onTaken: (name, takenMs) => limits.takenElsewhere(name, takenMs),
  });
  const fairTurns = new FairTurns();
  const gauge = { kind: "gauge", merged: "max" } as const;
  const { serverAddress, connections } = config;
  const { proxies } = connections;
  return {
    policies: { limits, paceRefusals: createPaceRefusals({ limits, serverAddress, proxies }), fairTurns },
    readings: [
      {
        ...gauge,
        name: "limit_entries",
        help: "Callers, servers and organizations that called lately",
        read: () => limits.size,
      },
      {
        kind: "gauge",
        name: "requests_waiting",
        help: "Requests that wait for their turn",
        read: () => fairTurns.size,
      },
      { ...gauge, name: "limit_gateways", help: "Other gateways that share the limits", read: () => sharing.gateways },
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
