import { satisfies } from "@renovatebot/pep440";
import { hostDisk } from "../host/disk.ts";
import type { HostReport, Isolation, LastingData, Pythons } from "../port/host.ts";
import type { NetworkReport } from "./network-test.ts";
import type { ProbeReport } from "./probe.ts";

/** Without one of these, tenants' code is not isolated. */
const required: ReadonlySet<string> = new Set(["own user", "capabilities", "privileges", "no token"]);

export type Probe = () => Promise<ProbeReport>;

/** Asks once; again after an error. */
export function cachedProbe(probe: Probe): Probe {
  let asked: Promise<ProbeReport> | null = null;
  return () => {
    asked ??= probe().catch((error: unknown) => {
      asked = null;
      throw error;
    });
    return asked;
  };
}

/** What the last test of the network showed, or why there was none. */
export type NetworkFound = NetworkReport | { readonly problem: string };

export type HostReportParts = {
  readonly namespace: string;
  readonly dataDirectory: string;
  readonly probe: Probe;
  /** Null: this process doesn't test it. */
  readonly network: (() => Promise<NetworkFound>) | null;
  /** Whether nothing may run while network policies aren't enforced. */
  readonly isNetworkRequired: boolean;
  readonly data: LastingData;
};

export function kubernetesHost(parts: HostReportParts): HostReport {
  const { namespace, dataDirectory, probe, network, isNetworkRequired, data } = parts;
  const test = async () => {
    const [report, found] = await Promise.all([probe(), network?.() ?? null]);
    return isolationOf(report, found, isNetworkRequired);
  };
  return {
    name: `kubernetes/${namespace}`,
    // Its scheduler knows.
    capacity: { memoryBytes: Number.POSITIVE_INFINITY, processors: Number.POSITIVE_INFINITY },
    selfTest: () => test().catch(notTested),
    pythons: imagePythons(probe),
    disk: hostDisk(dataDirectory),
    data,
  };
}

/** Pure. */
export function isolationOf(
  { checks }: ProbeReport,
  network: NetworkFound | null = null,
  isNetworkRequired = false,
): Isolation {
  const protections = Object.entries(checks).map(([name, detail]) =>
    checkOf(name, detail, required.has(name), `Pods of servers lack a protection (${name}): ${detail}.`),
  );
  const list = [...protections, ...(network === null ? [] : networkChecks(network, isNetworkRequired))];
  const failed = list.filter(({ ok }) => !ok);
  return {
    checks: list.map(({ name, ok, required, detail }) => ({ name, ok, required, detail: ok ? "in force" : detail })),
    isolatedBy: "pods",
    trusted: !failed.some((check) => check.required),
    refuses: isNetworkRequired && failed.some(({ name }) => name === policies),
    exceptions: [],
    problems: failed.map(({ problem }) => problem),
  };
}

/** `detail`: empty if it is in force. */
const checkOf = (name: string, detail: string, isRequired: boolean, problem: string) => ({
  name,
  ok: detail === "",
  required: isRequired,
  detail,
  problem,
});

const policies = "network policies";

function networkChecks(found: NetworkFound, isRequired: boolean) {
  if ("problem" in found) {
    const problem = `It could not be tested whether network policies are enforced: ${found.problem}`;
    return [checkOf(policies, found.problem, isRequired, problem)];
  }
  const list = found.reached.join(", ");
  const problem = found.reachesServers
    ? `Network policies are not enforced: a server reaches ${list}. Use a network plug-in that enforces them, such as Calico or Cilium, with tenants.networkPolicies.enabled of the chart.`
    : `Network policies have a gap: a server reaches ${list}. Name these networks in tenants.networkPolicies.deny of the chart.`;
  const called =
    "No call can arrive: this process reaches no server. Let gateway, runner and worker reach port 8000 of servers in the network policies.";
  return [
    checkOf(policies, list === "" ? "" : `a server reaches ${list}`, isRequired, problem),
    checkOf("calls", found.isCalled ? "" : "this process reaches no server", false, called),
  ];
}

function notTested(error: unknown): Isolation {
  const detail = error instanceof Error ? error.message : String(error);
  const checks = [{ name: "pods", ok: false, required: true, detail }];
  return { checks, isolatedBy: "pods", trusted: false, refuses: false, exceptions: [], problems: [detail] };
}

/** Those of the image, newest first. */
const imagePythons = (probe: Probe): Pythons => ({
  list: async () => (await newestFirst(probe)).map((version) => ({ version, isDownloaded: false })),
  async find(request) {
    const found = await newestFirst(probe);
    return found.find((version) => request === null || matches(version, request)) ?? null;
  },
  bring: async () => ({
    ok: false,
    reason: "On Kubernetes, Pythons come with the image of servers (TOWPATH_KUBERNETES_IMAGE).",
  }),
});

async function newestFirst(probe: Probe): Promise<readonly string[]> {
  const { pythons } = await probe();
  return pythons.toSorted((a, b) => b.localeCompare(a, "en", { numeric: true }));
}

/** Requests are versions such as `3.11`, which is any of its releases, or ranges. */
function matches(version: string, request: string): boolean {
  const isVersion = /^\d+(\.\d+)*$/.test(request);
  if (!isVersion) return satisfies(version, request);
  return version === request || version.startsWith(`${request}.`);
}
