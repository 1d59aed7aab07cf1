import type { Transaction } from "@towpath/db";
import { portal, project, route } from "@towpath/db/schema";
import type { z } from "zod";
import { audit } from "../../audit/index.ts";
import { actingUserId, authorize } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { newId } from "../../ids/index.ts";
import { parseInput } from "../../input/index.ts";
import { lockLabels } from "../label/index.ts";
import { requireFreeName } from "../project/internal.ts";
import { mcpUrl } from "../server-url/index.ts";
import { type CreatePortalInput, createPortalSchema } from "./portal.schema.ts";
import { type Chosen, chosenServers, namesOf, replaceServers } from "./portal.store.ts";

type CreatedPortal = {
  /** Of its project. */
  readonly id: string;
  readonly name: string;
  /** Its MCP endpoint. */
  readonly url: string;
};

/**
 * Creates a portal: chosen tools of several servers behind one endpoint (ORG-3). It is served at the address of its name
 * at once.
 *
 * @throws TowpathError `invalid_input` by field for VAL-1, a name that is taken, and servers as in `chosenServers`
 */
export async function createPortal(call: Call<CreatePortalInput>): Promise<CreatedPortal> {
  const { ctx } = call;
  const { organization } = await authorize(ctx, "project.create", { orgSlug: call.input.orgSlug });
  const input = parseInput(createPortalSchema, call.input);
  await requireFreeName(ctx.db, input.name);
  const id = await ctx.db.transaction(async (tx) => {
    const servers = await chosenServers(tx, organization.id, input.servers);
    return insert(tx, ctx, { organizationId: organization.id, input, servers });
  });
  return { id, name: input.name, url: mcpUrl(ctx.serverUrlTemplate, input.name.toLowerCase()) };
}

type Checked = {
  readonly organizationId: string;
  readonly input: z.output<typeof createPortalSchema>;
  readonly servers: readonly Chosen[];
};

async function insert(tx: Transaction, ctx: Context, { organizationId, input, servers }: Checked): Promise<string> {
  await lockLabels(tx);
  await requireFreeName(tx, input.name);
  const { name, description, authMode, instructions } = input;
  const [projectId, portalId] = [newId(), newId()];
  const now = ctx.clock.now();
  await tx.insert(project).values({
    id: projectId,
    organizationId,
    name,
    description,
    authMode,
    kind: "portal",
    entrypoint: "",
    createdByUserId: actingUserId(ctx),
    createdAt: now,
    updatedAt: now,
  });
  await tx.insert(portal).values({ id: portalId, projectId, instructions, createdAt: now, updatedAt: now });
  await replaceServers(tx, portalId, servers);
  const label = name.toLowerCase();
  await tx.insert(route).values({ label, projectId, targetKind: "portal", portalId, updatedAt: now });
  await audit(tx, ctx, {
    organizationId,
    projectId,
    action: "portal.create",
    subject: name,
    detail: { authMode, servers: await namesOf(tx, servers) },
  });
  return projectId;
}
