import type { ViewSearch } from "@towpath/db/schema";
import type { Context } from "../../context/index.ts";
import { findDeployments, listBranchDeploymentIds } from "../../delivery/deployment/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { listAuditActors } from "../../tenancy/audit-log/index.ts";
import { findPrincipals } from "../../tenancy/organization/index.ts";
import type { ViewList } from "./saved-view.schema.ts";

type Scope = { readonly orgSlug: string; readonly projectName: string };
type Check = (ctx: Context, scope: Scope, text: string) => Promise<unknown>;

const user: Check = (ctx, { orgSlug }, text) => findPrincipals({ ctx, input: { orgSlug, text } });
const deployment: Check = (ctx, scope, text) => findDeployments({ ctx, input: { ...scope, text } });
const branch: Check = (ctx, scope, text) => listBranchDeploymentIds({ ctx, input: { ...scope, branch: text } });

async function actor(ctx: Context, { orgSlug }: Scope, text: string): Promise<void> {
  const actors = await listAuditActors({ ctx, input: { orgSlug } });
  if (text === "towpath" || actors.some(({ id }) => id === text)) return;
  throw new TowpathError("invalid_input", "Nobody in the log has this id.");
}

/** Parameters that name something of the organization or the server, which can be gone. */
const references: Partial<Record<ViewList, Readonly<Record<string, Check>>>> = {
  requests: { user, deployment, branch },
  deployments: { branch },
  audit: { actor },
};

/** The parameters of a view that name something that is gone: a branch, a deployment, a person. */
export async function missingFilters(
  ctx: Context,
  scope: Scope,
  { list, search }: { readonly list: ViewList; readonly search: ViewSearch },
): Promise<ViewSearch> {
  const checked = Object.entries(references[list] ?? {}).map(async ([name, check]) => {
    const value = search[name];
    if (value === undefined) return [];
    try {
      await check(ctx, scope, String(value));
      return [];
    } catch (error) {
      if (!(error instanceof TowpathError) || !goneCodes.has(error.code)) throw error;
      return [[name, value] as const];
    }
  });
  return Object.fromEntries((await Promise.all(checked)).flat());
}

const goneCodes: ReadonlySet<string> = new Set(["invalid_input", "not_found"]);
