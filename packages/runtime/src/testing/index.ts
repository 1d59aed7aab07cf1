import { type HostFacts, inspectHost } from "../host/sandbox/host.ts";

export { pickBuildEnvironment, strictIsolation } from "../host/config.ts";
export { createSandboxDriver, type SandboxDriverConfig } from "../host/driver.ts";
export { createFakeDriver } from "./fake-driver.ts";
export { roomyDirectory, shortDirectory } from "./short-directory.ts";
export { tinyServer } from "./tiny-server.ts";

/** This host as it would be without bubblewrap: for the `host` of `createSandboxDriver`. */
export function hostWithoutBubblewrap(): HostFacts {
  const host = inspectHost();
  return { ...host, tools: { ...host.tools, bwrap: null } };
}
