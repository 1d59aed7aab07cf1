import { queryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import {
  createWorkloadIdentity,
  deleteWorkloadIdentity,
  listWorkloadIdentities,
  revokeWorkloadIdentity,
} from "@towpath/core/tenancy/workload-identity";
import { createWorkloadIdentitySchema } from "@towpath/core/tenancy/workload-identity/schema";
import { z } from "zod";
import { organizationAccess } from "~/http/access.ts";
import { exactInput, input } from "~/http/input.ts";

const organizationInput = z.object({ orgSlug: z.string() });
const identityInput = organizationInput.extend({ identityId: z.uuid() });

/** Workloads that may call the organization's servers with tokens of their issuer (KEY-6). */
const getWorkloads = createServerFn({ method: "GET" })
  .middleware([organizationAccess("workload.read")])
  .validator(input(organizationInput))
  .handler(({ context, data }) => listWorkloadIdentities({ ctx: context.ctx, input: data }));

/** Lets workloads call once their issuer's keys were read. */
export const createWorkload = createServerFn({ method: "POST" })
  .middleware([organizationAccess("workload.manage")])
  .validator(exactInput(createWorkloadIdentitySchema.safeExtend({ orgSlug: z.string() })))
  .handler(({ context, data }) => createWorkloadIdentity({ ctx: context.ctx, input: data }));

/** Ends it and keeps it in the list. */
export const revokeWorkload = createServerFn({ method: "POST" })
  .middleware([organizationAccess("workload.manage")])
  .validator(input(identityInput))
  .handler(({ context, data }) => revokeWorkloadIdentity({ ctx: context.ctx, input: data }));

/** Ends it and removes it from the list. */
export const deleteWorkload = createServerFn({ method: "POST" })
  .middleware([organizationAccess("workload.manage")])
  .validator(input(identityInput))
  .handler(({ context, data }) => deleteWorkloadIdentity({ ctx: context.ctx, input: data }));

export const workloadsQuery = (orgSlug: string) =>
  queryOptions({
    queryKey: ["workloads", orgSlug],
    queryFn: ({ signal }) => getWorkloads({ data: { orgSlug }, signal }),
  });
