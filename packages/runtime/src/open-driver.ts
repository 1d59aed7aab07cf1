import type { DriverConfig } from "./config.ts";
import type { HostLayers } from "./host/engine.ts";
import { nextIdentity } from "./host/identity.ts";
import { findHostLeftovers, type Leftovers } from "./host/leftovers.ts";
import { openSandboxDriver } from "./host/open-sandbox-driver.ts";
import { testSandboxHost } from "./host/test-host.ts";
import type { DriverRole, RunnerIdentity, RuntimeDriver } from "./port/driver.ts";
import type { Isolation } from "./port/host.ts";

/** Opens the driver that the settings choose. `layers`: where a driver on this host finds and stores layers. */
export function openDriver(config: DriverConfig, layers: HostLayers, role: DriverRole): RuntimeDriver {
  switch (config.kind) {
    case "sandbox":
      return openSandboxDriver(config, layers, role);
  }
}

/**
 * Takes the servers over from the runner that has them now, which is shut out from then on. A driver whose runners elect
 * one of them returns once this one is elected.
 */
export async function claimServers(config: DriverConfig): Promise<RunnerIdentity> {
  switch (config.kind) {
    case "sandbox":
      return nextIdentity(config.runDirectory);
  }
}

/** Tests this host's protections as a runner does at its start, while none runs. Starts nothing that outlives the call. */
export function testHost(config: DriverConfig): Promise<Isolation> {
  switch (config.kind) {
    case "sandbox":
      return testSandboxHost(config);
  }
}

/** What killed processes left. Call it before `testHost`, which removes what a start removes. */
export function findLeftovers(config: DriverConfig): Promise<Leftovers> {
  switch (config.kind) {
    case "sandbox":
      return findHostLeftovers(config.runDirectory);
  }
}
