import type { Transaction } from "@towpath/db";
import { externalServer, project, route } from "@towpath/db/schema";
import type { Manifest } from "@towpath/mcp/manifest";
import type { z } from "zod";
import { audit } from "../../audit/index.ts";
import { actingUserId, authorize } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import { newId } from "../../ids/index.ts";
import { parseInput } from "../../input/index.ts";
import { lockLabels } from "../label/index.ts";
import { requireFreeName } from "../project/internal.ts";
import { storeServerIcon } from "../server-icon/internal.ts";
import { mcpUrl } from "../server-url/index.ts";
import { type CreateExternalServerInput, createExternalServerSchema } from "./external-server.schema.ts";
import {
  nextCheckAt,
  readIcon,
  refusedInspection,
  requireElsewhere,
  sealedCredential,
} from "./external-server.store.ts";

/** What the creation of a server elsewhere answers. */
type CreatedExternalServer = {
  readonly id: string;
  readonly name: string;
  /** Its MCP endpoint at Towpath. */
  readonly url: string;
  readonly server: Manifest["server"];
  readonly counts: {
    readonly tools: number;
    readonly resources: number;
    readonly templates: number;
    readonly prompts: number;
  };
};

/**
 * Adds a server that runs elsewhere, by its URL (ORG-9): inspects it by a real handshake, and serves it at the address of
 * its name. A server that can't be inspected is not added.
 *
 * @throws TowpathError `invalid_input` by field for VAL-1, a name that is taken, a URL that is none or isn't on the public
 * internet, and (`url` or `credential`) a server that can't be reached, refuses, or doesn't speak MCP
 */
export async function createExternalServer(call: {
  ctx: Context<"secrets" | "externalServers">;
  input: CreateExternalServerInput;
}): Promise<CreatedExternalServer> {
  const { ctx } = call;
  const { organization } = await authorize(ctx, "project.create", { orgSlug: call.input.orgSlug });
  const input = parseInput(createExternalServerSchema, call.input);
  await requireFreeName(ctx.db, input.name);
  requireElsewhere(ctx, input.url);
  const credential = input.credential && { name: input.credential.header, value: input.credential.value };
  const inspection = await ctx.externalServers.inspect({ url: input.url, credential });
  if (!inspection.ok) throw refusedInspection(inspection.problem);
  const { manifest } = inspection;
  const read = await readIcon(ctx, inspection.icons, null);
  const checked = { organizationId: organization.id, input, manifest, read };
  const id = await ctx.db.transaction((tx) => insert(tx, ctx, checked));
  return {
    id,
    name: input.name,
    url: mcpUrl(ctx.serverUrlTemplate, input.name.toLowerCase()),
    server: manifest.server,
    counts: {
      tools: manifest.tools.length,
      resources: manifest.resources.length,
      templates: manifest.templates.length,
      prompts: manifest.prompts.length,
    },
  };
}

type Checked = {
  readonly organizationId: string;
  readonly input: z.output<typeof createExternalServerSchema>;
  readonly manifest: Manifest;
  readonly read: Awaited<ReturnType<typeof readIcon>>;
};

async function insert(
  tx: Transaction,
  ctx: Context<"secrets">,
  { organizationId, input, manifest, read }: Checked,
): Promise<string> {
  await lockLabels(tx);
  await requireFreeName(tx, input.name);
  const { url, credential, ...settings } = input;
  const [projectId, externalServerId] = [newId(), newId()];
  const now = ctx.clock.now();
  await tx.insert(project).values({
    ...settings,
    id: projectId,
    organizationId,
    kind: "external",
    entrypoint: "",
    createdByUserId: actingUserId(ctx),
    createdAt: now,
    updatedAt: now,
  });
  const owner = { organizationId, projectId, externalServerId, url, version: 1 };
  await tx.insert(externalServer).values({
    id: externalServerId,
    projectId,
    url,
    ...(await sealedCredential(tx, ctx, owner, credential)),
    manifest,
    ...read.columns,
    manifestAt: now,
    checkedAt: now,
    nextCheckAt: nextCheckAt(now),
    createdAt: now,
    updatedAt: now,
  });
  if (read.icon) await storeServerIcon(tx, projectId, read.icon, now);
  await tx.insert(route).values({
    label: input.name.toLowerCase(),
    projectId,
    targetKind: "external",
    externalServerId,
    updatedAt: now,
  });
  await audit(tx, ctx, {
    organizationId,
    projectId,
    action: "externalServer.create",
    subject: input.name,
    detail: { url, credentialHeader: credential?.header ?? null, authMode: input.authMode },
  });
  return projectId;
}
