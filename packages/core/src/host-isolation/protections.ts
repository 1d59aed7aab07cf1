import type { IsolationReport } from "./host-isolation.schema.ts";
import type { Protection, ProtectionName } from "./host-isolation.view.ts";

/** The driver's checks, grouped by the protection that they test. Other checks are details that nobody needs to see. */
const checksOf: Readonly<Record<ProtectionName, readonly string[]>> = {
  filesystem: ["bubblewrap", "util-linux", "sandbox", "no host files", "no writing outside", "no platform environment"],
  users: ["unprivileged user", "no capabilities", "no new privileges", "no user namespaces", "no host processes"],
  network: ["no host sockets", "own network"],
  memory: ["memory limit"],
  cpu: ["cpu limit"],
  processes: ["process limit"],
  disk: ["disk limit"],
  "system-calls": ["system call filter"],
};

/** Converts a report into what the dashboard shows. Pure. */
export function protectionsOf(report: IsolationReport): Protection[] {
  return (Object.keys(checksOf) as ProtectionName[]).map((name) => {
    const tried = report.checks.filter((check) => checksOf[name].includes(check.name));
    const failed = tried.filter((check) => !check.ok);
    const detail = failed.map((check) => `${check.name}: ${check.detail}`).join("; ");
    return { name, state: failed.length > 0 ? "off" : tried.length > 0 ? "on" : "untried", detail };
  });
}
