import type { Database } from "@towpath/db";
import { hostStorage } from "@towpath/db/schema";
import { asc, gt } from "drizzle-orm";
import { z } from "zod";
import { authorize } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";

const bytes = z.number().int().min(0);

/** A worker's report about the disk of its host. All sizes in bytes. */
const storageReportSchema = z.object({
  totalBytes: bytes,
  freeBytes: bytes,
  /** What Towpath may still use: free space, or what is left of its budget if that is less. */
  availableBytes: bytes,
  /** Below this no build starts. */
  reserveBytes: bytes,
  low: z.boolean(),
  /** Sizes of the subdirectories of the data directory, by name; measured every few minutes. */
  kinds: z.record(z.string(), bytes),
  /** The Pythons that builds and servers can use there, newest first. Workers of an earlier version don't say. */
  pythons: z.array(z.object({ version: z.string(), isDownloaded: z.boolean() })).optional(),
});

export type StorageReport = z.infer<typeof storageReportSchema>;

/** Several times a worker's report interval. */
const currentForMs = 120_000;

export type HostStorageView = StorageReport & { readonly host: string; readonly reportedAt: string };

/** Stores a worker's report about its host. Called by the worker itself, so there is no actor to authorize. */
export async function recordHostStorage(
  db: Database,
  input: { readonly host: string; readonly report: StorageReport; readonly at: Date },
): Promise<void> {
  const values = { report: storageReportSchema.parse(input.report), reportedAt: input.at };
  await db
    .insert(hostStorage)
    .values({ host: input.host, ...values })
    .onConflictDoUpdate({ target: hostStorage.host, set: values });
}

type Call = { ctx: Context; input: { readonly orgSlug: string } };

/** The disks of the hosts that currently report, for admins of an organization (LOG-6). */
export async function getHostStorage({ ctx, input }: Call): Promise<readonly HostStorageView[]> {
  await authorize(ctx, "organization.manage", { orgSlug: input.orgSlug });
  return currentReports(ctx);
}

/** Whether new builds are refused because no host has enough disk space, for every member. */
export async function getStorageWarning({ ctx, input }: Call): Promise<{ readonly refused: boolean }> {
  await authorize(ctx, "project.read", { orgSlug: input.orgSlug });
  return { refused: !(await hasStorage(ctx)) };
}

/**
 * For verbs with which users start builds. A push is never refused: its build waits until there is disk space.
 *
 * @throws TowpathError `out_of_storage`
 */
export async function requireStorageForBuilds(ctx: Context): Promise<void> {
  if (await hasStorage(ctx)) return;
  throw new TowpathError(
    "out_of_storage",
    "This instance's disk is almost full, so it starts no new builds. Servers keep running. Ask its operator to free disk space, then try again.",
  );
}

/** True while nothing is known: a worker checks its disk itself before it builds. */
async function hasStorage(ctx: Context): Promise<boolean> {
  const reports = await currentReports(ctx);
  return reports.length === 0 || reports.some(({ low }) => !low);
}

async function currentReports(ctx: Context): Promise<HostStorageView[]> {
  const since = new Date(ctx.clock.now().getTime() - currentForMs);
  const rows = await ctx.db
    .select()
    .from(hostStorage)
    .where(gt(hostStorage.reportedAt, since))
    .orderBy(asc(hostStorage.host));
  return rows.flatMap(({ host, report, reportedAt }) => {
    const read = storageReportSchema.safeParse(report);
    return read.success ? [{ ...read.data, host, reportedAt: reportedAt.toISOString() }] : [];
  });
}
