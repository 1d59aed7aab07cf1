import { authorize } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import type { IsolationReport } from "./host-isolation.schema.ts";
import { newestHostIsolation, type StoredIsolation } from "./host-isolation.store.ts";
import type { HostIsolationView, IsolationWarning, Protection, ProtectionName } from "./host-isolation.view.ts";

/** Three times the runner's pause between two reports. */
const currentForMs = 90_000;

type Call = { ctx: Context; input: { readonly orgSlug: string } };

const isCurrent = (ctx: Context, found: StoredIsolation) =>
  ctx.clock.now().getTime() - found.reportedAt.getTime() < currentForMs;

/** Which protections are in force where the organization's servers run, for its admins (RUN-1). */
export async function getHostIsolation({ ctx, input }: Call): Promise<HostIsolationView> {
  await authorize(ctx, "organization.manage", { orgSlug: input.orgSlug });
  const found = await newestHostIsolation(ctx.db);
  if (found === null)
    return { reportedAt: null, current: false, trusted: false, protections: [], exceptions: [], problems: [] };
  const { trusted, exceptions, problems } = found.report;
  return {
    reportedAt: found.reportedAt.toISOString(),
    current: isCurrent(ctx, found),
    trusted,
    protections: protectionsOf(found.report),
    exceptions,
    problems,
  };
}

/** What every member should know; null while nothing is missing, and while nothing is known. */
export async function getIsolationWarning({ ctx, input }: Call): Promise<IsolationWarning | null> {
  await authorize(ctx, "project.read", { orgSlug: input.orgSlug });
  const found = await newestHostIsolation(ctx.db);
  if (found === null || !isCurrent(ctx, found)) return null;
  const missing = protectionsOf(found.report).filter(({ state }) => state === "off");
  if (missing.length === 0) return null;
  return { missing: missing.map(({ name }) => name), refused: found.report.problems.length > 0 };
}

/** The driver's checks, grouped by the protection that they test. Other checks are details that are not shown. */
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
function protectionsOf(report: IsolationReport): Protection[] {
  return (Object.keys(checksOf) as ProtectionName[]).map((name) => {
    const tried = report.checks.filter((check) => checksOf[name].includes(check.name));
    const failed = tried.filter((check) => !check.ok);
    const detail = failed.map((check) => `${check.name}: ${check.detail}`).join("; ");
    return { name, state: failed.length > 0 ? "off" : tried.length > 0 ? "on" : "untried", detail };
  });
}
