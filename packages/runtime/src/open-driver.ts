import type { DriverConfig } from "./config.ts";
import type { HostLayers } from "./host/engine.ts";
import { openSandboxDriver } from "./host/open-sandbox-driver.ts";
import type { DriverRole, RuntimeDriver } from "./port/driver.ts";

/** Opens the driver that the settings choose. `layers`: where a driver on this host finds and stores layers. */
export function openDriver(config: DriverConfig, layers: HostLayers, role: DriverRole): RuntimeDriver {
  switch (config.kind) {
    case "sandbox":
      return openSandboxDriver(config, layers, role);
  }
}
