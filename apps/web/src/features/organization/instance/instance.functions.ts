import { createServerFn } from "@tanstack/react-start";
import { getHostIsolation, getIsolationWarning } from "@towpath/core/operations/host-isolation";
import { getHostStorage, getStorageWarning } from "@towpath/core/operations/host-storage";
import { getRelease } from "@towpath/core/operations/release";
import { z } from "zod";
import { organizationAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { queryOf } from "~/http/query-of.ts";

const organizationInput = z.object({ orgSlug: z.string() });

/** Which protections are in force where the organization's servers run (RUN-1). */
const getInstanceIsolation = createServerFn({ method: "GET" })
  .middleware([organizationAccess("organization.manage")])
  .validator(input(organizationInput))
  .handler(({ context, data }) => getHostIsolation({ ctx: context.ctx, input: data }));

/** The release that runs (OPS-3). */
const getInstanceRelease = createServerFn({ method: "GET" })
  .middleware([organizationAccess("organization.manage")])
  .validator(input(organizationInput))
  .handler(({ context, data }) => getRelease({ ctx: context.ctx, input: data }));

/** Which protections are missing, for every member; null when none is. */
const getMissingProtections = createServerFn({ method: "GET" })
  .middleware([organizationAccess("project.read")])
  .validator(input(organizationInput))
  .handler(({ context, data }) => getIsolationWarning({ ctx: context.ctx, input: data }));

/** The disks of the hosts that build (LOG-6). */
const getInstanceStorage = createServerFn({ method: "GET" })
  .middleware([organizationAccess("organization.manage")])
  .validator(input(organizationInput))
  .handler(({ context, data }) => getHostStorage({ ctx: context.ctx, input: data }));

/** Whether new builds are refused because the disk is nearly full, for every member. */
const getDiskWarning = createServerFn({ method: "GET" })
  .middleware([organizationAccess("project.read")])
  .validator(input(organizationInput))
  .handler(({ context, data }) => getStorageWarning({ ctx: context.ctx, input: data }));

/** The runner reports every 30 seconds. */
const reportIntervalMs = 30_000;
const everyReport = { staleTime: reportIntervalMs, refetchInterval: reportIntervalMs };

export const instanceIsolationQuery = (orgSlug: string) =>
  queryOf(["instance-isolation", orgSlug], getInstanceIsolation, { orgSlug }, { refetchInterval: reportIntervalMs });

export const instanceReleaseQuery = (orgSlug: string) =>
  queryOf(["instance-release", orgSlug], getInstanceRelease, { orgSlug });

export const missingProtectionsQuery = (orgSlug: string) =>
  queryOf(["missing-protections", orgSlug], getMissingProtections, { orgSlug }, everyReport);

export const instanceStorageQuery = (orgSlug: string) =>
  queryOf(["instance-storage", orgSlug], getInstanceStorage, { orgSlug }, { refetchInterval: reportIntervalMs });

export const diskWarningQuery = (orgSlug: string) =>
  queryOf(["disk-warning", orgSlug], getDiskWarning, { orgSlug }, everyReport);
