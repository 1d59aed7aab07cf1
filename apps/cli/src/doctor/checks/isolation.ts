import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { IsolationReport } from "@towpath/core/operations/host-isolation/schema";
import type { Facts } from "../facts.ts";
import { type Check, type Finding, fix, fixAs, notNeeded, ok } from "../finding.ts";

type Part = {
  readonly name: string;
  /** Names of the self-test's checks; of the sandbox: all others. */
  readonly checks: readonly string[];
  readonly whenOk: string;
  readonly remedy: string;
  /** Settings that run servers without it. */
  readonly exceptions: readonly string[];
};

const namespaces: Part = {
  name: "user namespaces",
  checks: [],
  whenOk: "servers and builds are isolated",
  remedy:
    "Install bubblewrap and util-linux (apt-get install bubblewrap util-linux), and start Towpath as root or let ordinary " +
    "users create namespaces (sysctl user.max_user_namespaces=15000). A container needs the options of docs/containers.md.",
  exceptions: ["TOWPATH_ALLOW_UNSANDBOXED"],
};
const parts: readonly Part[] = [
  {
    name: "control groups",
    checks: ["memory limit", "process limit", "cpu limit"],
    whenOk: "memory, processes and CPU of servers are limited",
    remedy:
      "Start Towpath as root on a host with control groups, as a service (./towpath service install), or in a control group " +
      "of your own: systemd-run --user --scope -p Delegate=yes ./towpath up. A container needs the options of docs/containers.md.",
    exceptions: ["TOWPATH_ALLOW_WEAK_LIMITS", "TOWPATH_ALLOW_UNSANDBOXED"],
  },
  {
    name: "/dev/net/tun",
    checks: ["own network"],
    whenOk: "servers have a network of their own",
    remedy:
      "Install slirp4netns and iproute2 (apt-get install slirp4netns iproute2), and let Towpath's user open /dev/net/tun " +
      "(modprobe tun; of a container: --device /dev/net/tun).",
    exceptions: ["TOWPATH_ALLOW_HOST_NETWORK", "TOWPATH_ALLOW_UNSANDBOXED"],
  },
];

/** Of a cluster, whose report says what to do about each. */
const networkPolicies = ["network policies", "calls"];

/** What isolates and limits servers, by the runner's self-test. */
export const isolation: Check = async ({ host, options }) => {
  const { isolation: report } = await host();
  if ("problem" in report) return [fix(namespaces.name, report.problem, "Fix what else is reported, then try again.")];
  if (report.isolatedBy === "pods") return podFindings(report);
  const named = [...parts.flatMap(({ checks }) => checks), "data quota", "freezer"];
  const own = report.checks.map(({ name }) => name).filter((name) => !named.includes(name));
  return [
    findingOf({ ...namespaces, ...wordsFor(report), checks: own }, report),
    ...parts.map((part) => findingOf(part, report)),
    await dataFinding(report, options),
  ];
};

function podFindings({ checks, problems }: IsolationReport): readonly Finding[] {
  const problemOf = (names: (name: string) => boolean) => {
    const failed = checks.filter(({ name, ok: passed }) => !passed && names(name));
    return problems.filter((problem) => failed.some(({ detail }) => problem.includes(detail)));
  };
  const found = (name: string, whenOk: string, mine: readonly string[]): Finding =>
    mine.length === 0 ? ok(name, whenOk) : fixAs(name, mine.join(" "), "See docs/kubernetes.md.");
  const isNetwork = (name: string) => networkPolicies.includes(name);
  return [
    found(
      "pods",
      "servers and builds are isolated in pods",
      problemOf((name) => !isNetwork(name)),
    ),
    found("network policies", "enforced: servers reach the internet only", problemOf(isNetwork)),
  ];
}

/** For what the operator has chosen. */
function wordsFor({ isolatedBy, checks }: IsolationReport): Partial<Part> {
  const lacksGvisor = checks.some(({ name, ok: passed }) => name === "gVisor" && !passed);
  if (lacksGvisor) return { remedy: "Install runsc (apt-get install runsc), and start Towpath as root." };
  const by = { bubblewrap: " by bubblewrap", gvisor: " by gVisor, within bubblewrap", pods: " in pods", none: "" }[
    isolatedBy ?? "none"
  ];
  return { whenOk: `${namespaces.whenOk}${by}` };
}

function findingOf({ name, checks, whenOk, remedy, exceptions }: Part, report: IsolationReport): Finding {
  const tried = report.checks.filter((check) => checks.includes(check.name));
  const failed = tried.filter((check) => !check.ok);
  if (tried.length === 0) return notNeeded(name, "not tried, because servers can't be isolated");
  if (failed.length === 0) return ok(name, whenOk);
  const allowed = report.exceptions.find(({ setting }) => exceptions.some((each) => setting.startsWith(`${each}=`)));
  const why = failed.map((check) => `${check.name}: ${check.detail}`).join("; ");
  return allowed ? notNeeded(name, `${allowed.setting}: ${allowed.meaning}`) : fix(name, why, remedy);
}

/** Only servers whose owners keep `/data` need it. */
async function dataFinding(report: IsolationReport, { dataDirectory }: Facts["options"]): Promise<Finding> {
  const name = "loop devices";
  const quota = report.checks.find((check) => check.name === "data quota");
  if (quota?.ok) return ok(name, `servers may keep data: ${quota.detail}`);
  const why = quota?.detail ?? "not tried";
  const volumes = await readdir(join(dataDirectory, "volumes")).catch(() => []);
  if (!volumes.some((file) => file.endsWith(".img"))) return notNeeded(name, `no server keeps data (${why})`);
  return fix(
    name,
    why,
    "Start Towpath as root, with e2fsprogs and loop devices (apt-get install e2fsprogs; modprobe loop).",
  );
}
