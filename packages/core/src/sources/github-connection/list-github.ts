import { authorizePlatform } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import { gitHubHostName } from "./github-connection.schema.ts";
import {
  authorizeInstance,
  connectionView,
  type GitHubConnectionView,
  type GitHubSecrets,
  listConnectionRows,
  openedSecrets,
  usesOf,
} from "./github-connection.store.ts";
import { environmentConnection } from "./numbers.schema.ts";

/** The App that the environment's settings name. */
export type EnvironmentApp = { readonly url: string; readonly appSlug: string };

/** The GitHub Apps of this instance, that of the environment first (GH-5). */
export async function listGitHub(call: {
  ctx: Context;
  input: { readonly orgSlug: string; readonly environment: EnvironmentApp | null };
}): Promise<readonly GitHubConnectionView[]> {
  const { ctx, input } = call;
  await authorizeInstance(ctx, input);
  const { environment } = input;
  const rows = await listConnectionRows(ctx.db);
  const stored = await Promise.all(rows.map(async (row) => connectionView(row, await usesOf(ctx.db, row.number))));
  if (environment === null) return stored;
  const { url, appSlug } = environment;
  const uses = await usesOf(ctx.db, environmentConnection);
  const shown = { number: environmentConnection, hostName: gitHubHostName(url), url, appSlug };
  return [{ ...uses, ...shown, id: null, ownerLogin: null, createdAt: null }, ...stored];
}

/** A stored App with its secrets. */
export type OpenedGitHub = GitHubSecrets & {
  readonly id: string;
  readonly number: number;
  readonly url: string;
  readonly apiUrl: string;
  readonly appId: string;
  readonly appSlug: string;
  readonly clientId: string;
  /** Grows with each change of the secrets. */
  readonly version: number;
};

/** The stored Apps, for processes that call GitHub. One whose secrets don't open is left out, after `onProblem`. */
export async function openGitHub(call: {
  ctx: Context<"secrets">;
  input: { readonly onProblem: (appSlug: string, error: unknown) => void };
}): Promise<readonly OpenedGitHub[]> {
  const { ctx, input } = call;
  authorizePlatform(ctx);
  const box = ctx.secrets;
  const rows = await listConnectionRows(ctx.db);
  return rows.flatMap((row) => {
    const { id, number, url, apiUrl, appId, appSlug, clientId, version } = row;
    try {
      return [{ id, number, url, apiUrl, appId, appSlug, clientId, version, ...openedSecrets(box, row) }];
    } catch (error) {
      input.onProblem(appSlug, error);
      return [];
    }
  });
}
