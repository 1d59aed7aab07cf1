import { type DiskSize, diskSizeSchema, standardReserve } from "@towpath/core/operations/host-storage/schema";
import type { RetentionPolicy } from "@towpath/db/schema";
import { z } from "zod";

const days = (standard: number) => z.coerce.number().int().min(1).max(36_500).default(standard);
const count = (standard: number) => z.coerce.number().int().min(1).max(100_000).default(standard);

/** How long things are kept; docs/retention.md explains each. */
export const retentionSettings = {
  TOWPATH_KEEP_REQUEST_LOG_DAYS: days(30),
  TOWPATH_KEEP_SERVER_LOG_DAYS: days(14),
  TOWPATH_KEEP_BUILD_LOG_DAYS: days(30),
  TOWPATH_KEEP_AUDIT_LOG_DAYS: days(365),
  /** Preview branches that have ended, with their builds. */
  TOWPATH_KEEP_ENDED_BRANCH_DAYS: days(14),
  /** Of each branch. */
  TOWPATH_KEEP_BUILDS: count(100),
  /** Deployments kept for each branch, with their layers, in addition to the live one. */
  TOWPATH_KEEP_DEPLOYMENTS: count(20),
  /** Maximum size of the data directory. */
  TOWPATH_DISK_BUDGET: diskSizeSchema.default({ kind: "share", part: 1 }),
  /** With less free space than this, no build starts. */
  TOWPATH_DISK_RESERVE: diskSizeSchema.default(standardReserve),
  /** Of each organization, MiB. */
  TOWPATH_BUILD_CACHE_MIB: z.coerce.number().int().min(0).max(10_000_000).default(4096),
  /** Pause between two rounds, milliseconds. */
  TOWPATH_RETENTION_EVERY_MS: z.coerce.number().int().min(100).max(86_400_000).default(60_000),
} as const;

export type RetentionConfig = {
  readonly policy: RetentionPolicy;
  readonly everyMs: number;
  readonly disk: { readonly budget: DiskSize; readonly reserve: DiskSize };
  /** Maximum size of uv's cache of one organization. */
  readonly cacheBytes: number;
};

export function retentionConfigFrom(values: z.infer<z.ZodObject<typeof retentionSettings>>): RetentionConfig {
  return {
    everyMs: values.TOWPATH_RETENTION_EVERY_MS,
    disk: { budget: values.TOWPATH_DISK_BUDGET, reserve: values.TOWPATH_DISK_RESERVE },
    cacheBytes: values.TOWPATH_BUILD_CACHE_MIB * 1024 ** 2,
    policy: {
      requestLogDays: values.TOWPATH_KEEP_REQUEST_LOG_DAYS,
      serverLogDays: values.TOWPATH_KEEP_SERVER_LOG_DAYS,
      buildLogDays: values.TOWPATH_KEEP_BUILD_LOG_DAYS,
      auditDays: values.TOWPATH_KEEP_AUDIT_LOG_DAYS,
      endedBranchDays: values.TOWPATH_KEEP_ENDED_BRANCH_DAYS,
      buildsPerBranch: values.TOWPATH_KEEP_BUILDS,
      deploymentsPerBranch: values.TOWPATH_KEEP_DEPLOYMENTS,
    },
  };
}
