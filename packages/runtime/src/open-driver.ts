import type { DriverConfig } from "./config.ts";
import type { HostLayers } from "./host/engine.ts";
import { nextIdentity } from "./host/identity.ts";
import { findHostLeftovers, type Leftovers } from "./host/leftovers.ts";
import { openSandboxDataCopies, openSandboxDriver } from "./host/open-sandbox-driver.ts";
import { testSandboxHost } from "./host/test-host.ts";
import { claimClusterServers, openClusterDriver, testCluster } from "./kubernetes/open-kubernetes-driver.ts";
import type { RemoteLayers } from "./kubernetes/remote-layers.ts";
import type { DriverRole, RunnerIdentity, RuntimeDriver } from "./port/driver.ts";
import type { DataCopies, Isolation } from "./port/host.ts";

/** Where a driver on this host finds and stores layers, and how pods of another one do. */
export type DriverLayers = HostLayers & { readonly remote: RemoteLayers };

/** Opens the driver that the settings choose. */
export function openDriver(config: DriverConfig, layers: DriverLayers, role: DriverRole): RuntimeDriver {
  switch (config.kind) {
    case "sandbox":
      return openSandboxDriver(config, layers, role);
    case "kubernetes":
      return openClusterDriver(config, layers.remote, role);
  }
}

/**
 * Takes the servers over from the runner that has them now, which is shut out from then on. A driver whose runners elect
 * one of them returns once this one is elected.
 *
 * @param onWaiting called if another one is elected for now; ends the wait by rejecting
 */
export async function claimServers(config: DriverConfig, onWaiting: () => Promise<void>): Promise<RunnerIdentity> {
  switch (config.kind) {
    case "sandbox":
      return nextIdentity(config.runDirectory);
    case "kubernetes":
      return claimClusterServers(config, onWaiting);
  }
}

/** Tests this host's protections as a runner does at its start, while none runs. Starts nothing that outlives the call. */
export function testHost(config: DriverConfig): Promise<Isolation> {
  switch (config.kind) {
    case "sandbox":
      return testSandboxHost(config);
    case "kubernetes":
      return testCluster(config);
  }
}

/** What killed processes left. Call it before `testHost`, which removes what a start removes. */
export function findLeftovers(config: DriverConfig): Promise<Leftovers> {
  switch (config.kind) {
    case "sandbox":
      return findHostLeftovers(config.runDirectory);
    case "kubernetes":
      // What is left in the cluster, the next runner and the workers remove.
      return Promise.resolve({ shim: null, controlGroups: [], mounts: [] });
  }
}

/** Copies what servers keep in `/data`, without a driver. In a cluster, the claims' volumes are its own to back up. */
export function openDataCopies(config: Pick<DriverConfig, "kind" | "dataDirectory" | "runDirectory">): DataCopies {
  switch (config.kind) {
    case "sandbox":
      return openSandboxDataCopies(config);
    case "kubernetes":
      return noDataCopies;
  }
}

/** The same in a directory that is to become an instance. What a back-up has of `/data` was on a host, and is so again. */
export const openRestoredData = (directory: string): DataCopies =>
  openDataCopies({ kind: "sandbox", dataDirectory: directory, runDirectory: directory });

const notCopied = () => Promise.reject(new Error("Volumes of a cluster are backed up and restored by its own means."));
const noDataCopies: DataCopies = { list: async () => [], read: notCopied, write: notCopied };
