import type { Transaction } from "@towpath/db";
import { githubConnection } from "@towpath/db/schema";
import { type ConnectionBinding, sealConnection } from "@towpath/secrets";
import { eq } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { actingUserId } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { parseInput } from "../../input/index.ts";
import {
  type ChangeGitHubKeysInput,
  type ConnectGitHubInput,
  changeGitHubKeysSchema,
  connectGitHubSchema,
  gitHubHostName,
} from "./github-connection.schema.ts";
import {
  authorizeInstance,
  connectionView,
  type GitHubConnectionView,
  type GitHubSecrets,
  lockConnection,
  openedSecrets,
  usesOf,
} from "./github-connection.store.ts";

type Call<Input> = { readonly ctx: Context<"secrets">; readonly input: Input & { readonly orgSlug: string } };

const noUses = { accounts: [], suspended: [], servers: [] };

/**
 * Stores a GitHub App whose keys GitHub has just returned (GH-5). All processes use it within seconds.
 *
 * @throws TowpathError `conflict` for an App that is connected already
 */
export async function connectGitHub(call: Call<ConnectGitHubInput>): Promise<GitHubConnectionView> {
  const { ctx } = call;
  const { organization } = await authorizeInstance(ctx, call.input);
  const { clientSecret, privateKey, webhookSecret, ...app } = parseInput(connectGitHubSchema, call.input);
  return ctx.db.transaction(async (tx) => {
    const sealed = await seal(tx, ctx, { ...app, version: 1 }, { clientSecret, privateKey, webhookSecret });
    const now = ctx.clock.now();
    const [row] = await tx
      .insert(githubConnection)
      .values({ ...app, ...sealed, createdByUserId: actingUserId(ctx), createdAt: now, updatedAt: now })
      .onConflictDoNothing({ target: [githubConnection.apiUrl, githubConnection.appId] })
      .returning();
    if (!row) throw new TowpathError("conflict", "This GitHub App is connected already.");
    await audit(tx, ctx, {
      organizationId: organization.id,
      action: "github.connect",
      subject: row.appSlug,
      detail: { host: gitHubHostName(row.url), owner: row.ownerLogin },
    });
    return connectionView(row, noUses);
  });
}

/**
 * Replaces secrets of an App, such as a private key that was made at GitHub. The caller has tried that they work.
 *
 * @throws TowpathError `not_found`
 */
export async function changeGitHubKeys(
  call: Call<{ readonly id: string; readonly keys: ChangeGitHubKeysInput }>,
): Promise<GitHubConnectionView> {
  const { ctx, input } = call;
  const { organization } = await authorizeInstance(ctx, input);
  const keys = parseInput(changeGitHubKeysSchema, input.keys);
  return ctx.db.transaction(async (tx) => {
    const before = await lockConnection(tx, input.id);
    const { clientSecret, privateKey, webhookSecret } = openedSecrets(ctx.secrets, before);
    const version = before.version + 1;
    const secrets = {
      clientSecret: keys.clientSecret ?? clientSecret,
      privateKey: keys.privateKey ?? privateKey,
      webhookSecret: keys.webhookSecret ?? webhookSecret,
    };
    const sealed = await seal(tx, ctx, { ...before, version }, secrets);
    const [row = before] = await tx
      .update(githubConnection)
      .set({ ...sealed, version, updatedAt: ctx.clock.now() })
      .where(eq(githubConnection.id, before.id))
      .returning();
    await audit(tx, ctx, {
      organizationId: organization.id,
      action: "github.rotate",
      subject: row.appSlug,
      detail: { host: gitHubHostName(row.url), changed: Object.keys(keys) },
    });
    return connectionView(row, await usesOf(tx, row.number));
  });
}

const seal = (tx: Transaction, ctx: Context<"secrets">, binding: ConnectionBinding, secrets: GitHubSecrets) =>
  sealConnection(tx, ctx.secrets, binding, JSON.stringify(secrets));
