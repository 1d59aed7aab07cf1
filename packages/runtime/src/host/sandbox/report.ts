import type { Isolation } from "../../port/host.ts";
import type { IsolationConfig } from "../config.ts";
import { containerHint } from "./host.ts";
import type { NetworkState } from "./network-probe.ts";
import type { Check } from "./self-test.ts";
import { limitNames } from "./self-test-limits.ts";

export const missingBubblewrap =
  "bubblewrap is not installed, so servers can't be isolated: apt-get install bubblewrap, or set " +
  "TOWPATH_ALLOW_UNSANDBOXED=yes to run them without isolation.";

export const missingGvisor =
  "TOWPATH_ISOLATION=gvisor needs runsc (apt-get install runsc) and Towpath to run as root; " +
  "TOWPATH_ISOLATION=bubblewrap isolates servers without it.";

const weakLimits =
  "The limits on a server's memory, processes and CPU can't be enforced on this host, so no server and no build runs. " +
  "Start Towpath as root on a host with control groups, or in a control group of your own: systemd-run --user --scope " +
  "-p Delegate=yes ./towpath up. TOWPATH_ALLOW_WEAK_LIMITS=yes runs code that you trust without them.";

/** On the host's kernel each process is limited by itself at least, which gVisor's processes aren't. */
const unlimitedGvisor =
  "Without control groups gVisor has no limit on a server's memory and processes at all, so no server and no build runs, and " +
  "TOWPATH_ALLOW_WEAK_LIMITS has no effect. Start Towpath as root on a host with control groups, or set " +
  "TOWPATH_ISOLATION=bubblewrap.";

/** Why nothing runs and what to do. */
export function refusalOf(checks: readonly Check[], kernel: IsolationConfig["kernel"]): string {
  const failed = checks.filter((check) => check.required && !check.ok);
  const list = failed.map((check) => `${check.name}: ${check.detail.replace(/\.$/, "")}`).join("; ");
  if (failed.every((check) => limitNames.includes(check.name)))
    return `${kernel === "gvisor" ? unlimitedGvisor : weakLimits} (${list}.)${containerHint()}`;
  return (
    `Servers cannot be isolated on this host, so no server and no build runs (${list}). ` +
    `TOWPATH_ALLOW_UNSANDBOXED=yes runs code that you trust without isolation.${containerHint()}`
  );
}

/** Why a sandbox cannot have a network of its own and what to do. */
export function noNetwork(checks: readonly Check[]): string {
  const why = checks.map((check) => check.detail.replace(/\.$/, "")).join("; ");
  return (
    `A sandbox cannot have a network of its own here: ${why}. It needs slirp4netns and iproute2 (apt-get install ` +
    "slirp4netns iproute2) and a /dev/net/tun that Towpath's user may open. TOWPATH_ALLOW_HOST_NETWORK=yes lets " +
    `servers use the host's network, its loopback included.${containerHint()}`
  );
}

/** For a host that runs servers: what it can't run. */
export function problemsOf({ internet, checks }: NetworkState): string[] {
  return internet === null ? [noNetwork(checks)] : [];
}

/** The exceptions in the operator's settings, with their effect on this host. */
export function exceptionsOf(
  config: IsolationConfig,
  found: { readonly isolated: boolean; readonly limits: readonly Check[]; readonly state: NetworkState },
): Isolation["exceptions"] {
  const limited = found.limits.every((check) => check.ok || !limitNames.includes(check.name));
  const weak = "this host doesn't enforce all limits on their memory, processes and CPU.";
  const exception = (setting: string, isSet: boolean, meaning: string) => (isSet ? [{ setting, meaning }] : []);
  return [
    ...exception(
      "TOWPATH_ALLOW_UNSANDBOXED=yes",
      config.allowUnsandboxed,
      !found.isolated
        ? "Servers and builds run as plain processes of this host, without a sandbox."
        : limited
          ? "Not needed: servers have a sandbox and its limits are enforced."
          : `Servers have a sandbox, but ${weak}`,
    ),
    ...exception(
      "TOWPATH_ALLOW_WEAK_LIMITS=yes",
      // It has no effect with gVisor.
      config.allowWeakLimits && config.kernel === "host",
      limited ? "Not needed: the limits are enforced here." : `Servers run although ${weak}`,
    ),
    ...exception(
      "TOWPATH_ALLOW_HOST_NETWORK=yes",
      config.allowHostNetwork,
      found.state.internet === "host"
        ? "Servers share the host's network, its loopback and private ranges included."
        : "Not used: servers have a network of their own, or none.",
    ),
    ...exception(
      `TOWPATH_NETWORK_ALLOW=${config.allowedRanges.join(",")}`,
      config.allowedRanges.length > 0,
      "Servers and builds reach these private ranges.",
    ),
  ];
}
