import { driverContract, openClusterDriver } from "@towpath/runtime/testing/cluster";
import { afterAll, beforeAll, inject } from "vitest";
import { clusterOf } from "./cluster.ts";
import { openServersRig, type ServersRig } from "./servers-rig.ts";

let rig: ServersRig;
beforeAll(async () => {
  rig = await openServersRig(clusterOf(inject("clusterDirectory")), inject("clusterDirectory"));
}, 900_000);
afterAll(() => rig.close());

driverContract("kubernetes", ["lastingData"], (directory) => {
  const role = { kind: "servers", identity: rig.identity, adoptWithinMs: 0, onSuperseded: () => {} } as const;
  return rig.withRealLayers(openClusterDriver(rig.settings(directory), rig.layers, role));
});
