import type { Database } from "@towpath/db";
import { hostIsolation } from "@towpath/db/schema";
import { desc } from "drizzle-orm";
import { authorize } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import { type IsolationReport, isolationReportSchema } from "./host-isolation.schema.ts";

export type ProtectionName =
  | "filesystem"
  | "users"
  | "network"
  | "memory"
  | "cpu"
  | "processes"
  | "disk"
  | "data"
  | "system-calls";

/** `off`: its test failed. `untried`: not tested. */
export type Protection = {
  readonly name: ProtectionName;
  readonly state: "on" | "off" | "untried";
  /** Why the test failed; else "". */
  readonly detail: string;
};

/** Which protections are active where servers run. */
export type HostIsolationView = {
  /** When the runner last reported; null when it never has. */
  readonly reportedAt: string | null;
  /** False when the runner has missed several reports: the rest describes `reportedAt`. */
  readonly current: boolean;
  /** What servers and builds run in; null if the report doesn't say. */
  readonly isolatedBy: "bubblewrap" | "gvisor" | "pods" | "none" | null;
  readonly trusted: boolean;
  /** Whether nothing starts; of hosts with sandboxes, `trusted` and `problems` say what does. */
  readonly refuses: boolean;
  readonly protections: readonly Protection[];
  readonly exceptions: readonly { readonly setting: string; readonly meaning: string }[];
  readonly problems: readonly string[];
  /** What else the instance lacks, with the remedy. */
  readonly warnings: readonly string[];
};

/** For all members: the protections known to be missing, without details of the host. */
type IsolationWarning = {
  readonly missing: readonly ProtectionName[];
  /** Servers and builds don't start because of it. */
  readonly refused: boolean;
};

type StoredIsolation = { readonly report: IsolationReport; readonly reportedAt: Date };

/** The most recent report; null when there is none, or it can't be parsed. */
async function newestHostIsolation(db: Database): Promise<StoredIsolation | null> {
  const [row] = await db.select().from(hostIsolation).orderBy(desc(hostIsolation.reportedAt)).limit(1);
  const report = isolationReportSchema.safeParse(row?.report);
  return row && report.success ? { report: report.data, reportedAt: row.reportedAt } : null;
}

/**
 * Stores a runner's isolation report. Called by the runner itself, so there is no actor to authorize.
 */
export async function recordHostIsolation(
  db: Database,
  input: { readonly host: string; readonly report: IsolationReport; readonly at: Date },
): Promise<void> {
  const values = { host: input.host, report: isolationReportSchema.parse(input.report), reportedAt: input.at };
  await db
    .insert(hostIsolation)
    .values(values)
    .onConflictDoUpdate({ target: hostIsolation.host, set: { report: values.report, reportedAt: values.reportedAt } });
}

/** Three times the runner's report interval. */
const currentForMs = 90_000;

const unknownIsolation = {
  current: false,
  isolatedBy: null,
  trusted: false,
  refuses: false,
  protections: [],
  exceptions: [],
  problems: [],
  warnings: [],
} as const;

type Call = { ctx: Context; input: { readonly orgSlug: string } };

const isCurrent = (ctx: Context, found: StoredIsolation) =>
  ctx.clock.now().getTime() - found.reportedAt.getTime() < currentForMs;

/** Which protections are active on the host where the organization's servers run, for its admins (RUN-1). */
export async function getHostIsolation({ ctx, input }: Call): Promise<HostIsolationView> {
  await authorize(ctx, "organization.manage", { orgSlug: input.orgSlug });
  const found = await newestHostIsolation(ctx.db);
  if (found === null) return { ...unknownIsolation, reportedAt: null };
  const { isolatedBy = null, trusted, refuses = false, exceptions, problems, warnings = [] } = found.report;
  return {
    reportedAt: found.reportedAt.toISOString(),
    current: isCurrent(ctx, found),
    isolatedBy,
    trusted,
    refuses,
    protections: protectionsOf(found.report),
    exceptions,
    problems,
    warnings,
  };
}

/** A warning for every member; null while no protection is missing, and while nothing is known. */
export async function getIsolationWarning({ ctx, input }: Call): Promise<IsolationWarning | null> {
  await authorize(ctx, "project.read", { orgSlug: input.orgSlug });
  const found = await newestHostIsolation(ctx.db);
  if (found === null || !isCurrent(ctx, found)) return null;
  // Without a quota on /data nothing is unprotected: servers that keep data are refused.
  const missing = protectionsOf(found.report).filter(({ name, state }) => state === "off" && name !== "data");
  if (missing.length === 0) return null;
  const { isolatedBy, refuses = false, problems } = found.report;
  // In pods, servers run with a problem unless that is refused.
  const refused = isolatedBy === "pods" ? refuses : problems.length > 0;
  return { missing: missing.map(({ name }) => name), refused };
}

/** The driver's checks by the protection that they test. Other checks are not shown. */
const checksOf: Readonly<Record<ProtectionName, readonly string[]>> = {
  filesystem: [
    "bubblewrap",
    "gVisor",
    "util-linux",
    "sandbox",
    "no host files",
    "no writing outside",
    "no platform environment",
    "read-only root",
    "pods",
  ],
  users: [
    "unprivileged user",
    "no capabilities",
    "no new privileges",
    "no user namespaces",
    "no host processes",
    "own user",
    "capabilities",
    "privileges",
    "no token",
  ],
  network: ["no host sockets", "own network", "network policies", "calls"],
  memory: ["memory limit"],
  cpu: ["cpu limit"],
  processes: ["process limit"],
  disk: ["disk limit"],
  data: ["data quota"],
  "system-calls": ["system call filter", "system calls"],
};

/** Groups a report's checks by protection. */
function protectionsOf(report: IsolationReport): Protection[] {
  return (Object.keys(checksOf) as ProtectionName[]).map((name) => {
    const tried = report.checks.filter((check) => checksOf[name].includes(check.name));
    const failed = tried.filter((check) => !check.ok);
    const detail = failed.map((check) => `${check.name}: ${check.detail}`).join("; ");
    return { name, state: failed.length > 0 ? "off" : tried.length > 0 ? "on" : "untried", detail };
  });
}
