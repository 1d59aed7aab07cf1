import type { Context } from "@towpath/core/context";
import { findDeployments, listBranchDeploymentIds } from "@towpath/core/delivery/deployment";
import { TowpathError } from "@towpath/core/errors";
import { findPrincipals } from "@towpath/core/tenancy/organization";
import { parseQueryText } from "@towpath/logs/query-text";
import { type LogQueryInput, logQuerySchema } from "@towpath/logs/schema";
import { logQueryFromFilters } from "@towpath/logs/search";
import { z } from "zod";

type ProjectKey = { readonly orgSlug: string; readonly projectName: string };

/** Filters by name, in addition to the fields of VAL-5. */
export const logNamesSchema = z.object({
  /** An email address, the name of a person or key, or a principal as logged. */
  user: z.string().max(256).optional(),
  /** A deployment's id, or the beginning of its commit. */
  deployment: z.string().max(64).optional(),
  /** The name of a branch. */
  branch: z.string().max(250).optional(),
});

/**
 * Principals and deployment ids of the named user, deployment and branch.
 *
 * @throws TowpathError `invalid_input` when the organization or project has nothing of that name
 */
export async function resolveNames(
  ctx: Context,
  key: ProjectKey,
  { user, deployment, branch }: z.output<typeof logNamesSchema>,
): Promise<Pick<LogQueryInput, "principals" | "deploymentIds">> {
  const [principals, named, ofBranch] = await Promise.all([
    user === undefined ? null : findPrincipals({ ctx, input: { orgSlug: key.orgSlug, text: user } }),
    deployment === undefined ? null : findDeployments({ ctx, input: { ...key, text: deployment } }),
    branch === undefined ? null : listBranchDeploymentIds({ ctx, input: { ...key, branch } }),
  ]);
  const deploymentIds = named && ofBranch ? named.filter((id) => ofBranch.includes(id)) : (named ?? ofBranch);
  return {
    ...(principals && { principals: [...principals] }),
    ...(deploymentIds && { deploymentIds: [...deploymentIds] }),
  };
}

const booleanText = z.enum(["true", "false"]).transform((value) => value === "true");

/**
 * A log query as URL parameters (VAL-5), for REST and the export. `deploymentIds` is a comma-separated list; `query` a
 * text such as `tool:echo status:error`, combined with the other parameters.
 */
export const logParametersSchema = logQuerySchema
  .omit({ projectId: true, exceptTargets: true, principals: true })
  .extend({
    hasFailed: booleanText.optional(),
    isError: booleanText.optional(),
    isRefused: booleanText.optional(),
    withoutProtocol: booleanText.optional(),
    ...logNamesSchema.shape,
    deploymentIds: z
      .string()
      .transform((value) => value.split(","))
      .pipe(z.array(z.uuid()).max(200))
      .optional(),
    query: z.string().max(4096).optional(),
  });

/**
 * The log query of such parameters, with names resolved.
 *
 * @throws TowpathError `invalid_input` that explains the unreadable part of `query`, or an unknown name in it
 */
export async function readLogParameters(
  ctx: Context,
  key: ProjectKey,
  parameters: z.output<typeof logParametersSchema>,
): Promise<Omit<LogQueryInput, "projectId">> {
  const { query, user, deployment, branch, ...fields } = parameters;
  const { filters, problems } = parseQueryText(query ?? "");
  const message = problems.map(({ text }) => text).join(" ");
  if (message !== "") throw new TowpathError("invalid_input", message, { fields: { query: message } });
  const names = {
    user: filters.user ?? user,
    deployment: filters.deployment ?? deployment,
    branch: filters.branch ?? branch,
  };
  return { ...fields, ...logQueryFromFilters(filters, true), ...(await resolveNames(ctx, key, names)) };
}
