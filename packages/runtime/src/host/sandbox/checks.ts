import type { IsolationConfig } from "../config.ts";
import type { Spawner } from "../process/running-process.ts";
import type { CgroupLayout } from "./cgroup-layout.ts";
import { type HostFacts, whyNoNamespaces } from "./host.ts";
import { hostAddresses } from "./network.ts";
import type { NetworkState } from "./network-probe.ts";
import { missingBubblewrap, missingGvisor } from "./report.ts";
import { type Check, probeIsolation } from "./self-test.ts";
import { probeLimits } from "./self-test-limits.ts";

/** Of the engine: the checks need no more. */
type CheckedConfig = IsolationConfig & { readonly stateDirectory: string };

export const passes = (check: Check) => check.ok || !check.required;

/** Whether anything can run here at all, and what it sees. */
export async function basicChecks(spawn: Spawner, config: CheckedConfig, host: HostFacts): Promise<Check[]> {
  const { bwrap, setpriv, prlimit, runsc } = host.tools;
  const failed = (name: string, detail: string): Check[] => [{ name, ok: false, required: true, detail }];
  if (bwrap === null) return failed("bubblewrap", missingBubblewrap);
  if (prlimit === null || (host.root && setpriv === null))
    return failed("util-linux", "setpriv and prlimit are missing: apt-get install util-linux.");
  if (config.kernel === "gvisor" && (runsc === null || !host.root)) return failed("gVisor", missingGvisor);
  try {
    return await probeIsolation(spawn, config.stateDirectory, "none");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return failed("sandbox", `${reason} ${host.root ? "" : whyNoNamespaces()}`.trim());
  }
}

/** Whether a sandbox can have a network of its own. `worthTrying`: the basic checks have passed. */
export async function networkChecks(
  spawn: Spawner,
  config: CheckedConfig,
  host: HostFacts,
  worthTrying: boolean,
): Promise<NetworkState> {
  const outcome = (ok: boolean, detail: string): Check[] => [{ name: "own network", ok, required: false, detail }];
  if (!worthTrying) return { internet: null, checks: outcome(false, "not tried"), isTransient: false };
  // Waiting doesn't help if a program is missing: the host is inspected only once.
  const isTransient = host.tools.slirp4netns !== null && host.tools.ip !== null && host.tools.nsenter !== null;
  try {
    const checks = await probeIsolation(spawn, config.stateDirectory, "internet");
    const broken = checks.filter((check) => !passes(check));
    const blocked = `closed: private ranges and ${hostAddresses().length} addresses of the host`;
    if (broken.length === 0)
      return { internet: "slirp", checks: outcome(true, `slirp4netns; ${blocked}`), isTransient: false };
    const detail = broken.map((check) => `${check.name}: ${check.detail}`).join("; ");
    return { internet: null, checks: outcome(false, detail), isTransient: false };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (!config.allowHostNetwork) return { internet: null, checks: outcome(false, reason), isTransient };
    const checks = outcome(false, `${reason} TOWPATH_ALLOW_HOST_NETWORK: the host's is used.`);
    return { internet: "host", checks, isTransient };
  }
}

/** Which limits this host enforces. */
export async function limitChecks(spawn: Spawner, config: CheckedConfig, cgroups: CgroupLayout): Promise<Check[]> {
  const freezes = cgroups.v2 !== null || cgroups.v1Freezer !== null;
  const detail = freezes ? `cgroup ${cgroups.version}` : "SIGSTOP instead";
  const freezer: Check = { name: "freezer", ok: freezes, required: false, detail };
  const required = !config.allowWeakLimits || config.kernel === "gvisor";
  return [...(await probeLimits(spawn, required)), freezer];
}
