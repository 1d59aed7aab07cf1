import type { SignedIn } from "@towpath/auth";
import type { Context } from "@towpath/core/context";
import { TowpathError } from "@towpath/core/errors";
import { requireStorageForBuilds } from "@towpath/core/operations/host-storage";
import { deployProject, requireFreeName } from "@towpath/core/projects/project";
import { numberOf } from "@towpath/core/sources/github-connection/numbers";
import { isGitHubError, withGitHub } from "@towpath/github";
import { gitHub } from "~/compose.server.ts";
import {
  beginRoundTrip,
  callbackUrl,
  deleteUserToken,
  readUserToken,
} from "~/features/organization/github/round-trip.server.ts";
import { sampleEntrypoint, sampleFiles } from "./sample.server.ts";

export type QuickstartResult =
  /** The user must first authorize Towpath at GitHub to create a repository. */
  | { readonly kind: "authorize"; readonly url: string }
  /** The repository was created, but the App can't read it yet. */
  | { readonly kind: "grant"; readonly url: string; readonly repository: string }
  | { readonly kind: "created"; readonly projectName: string; readonly buildId: string | null };

type Call = {
  readonly signedIn: SignedIn;
  readonly ctx: Context<"repositories" | "secrets">;
  readonly orgSlug: string;
  readonly serverName: string;
};

/**
 * Copies the sample repository into the user's GitHub account, creates the project and its first build (ONB-4). The
 * name and the disk space for a build are checked first, so that a refusal leaves nothing behind at GitHub.
 */
export async function runQuickstart({ signedIn, ctx, orgSlug, serverName }: Call): Promise<QuickstartResult> {
  await requireFreeName(ctx.db, serverName);
  await requireStorageForBuilds(ctx);
  const userToken = await readUserToken(signedIn.sessionId, serverName);
  const authorize = async (): Promise<QuickstartResult> => {
    const { number: connection, github } = await gitHub().preferred();
    const state = await beginRoundTrip(signedIn.sessionId, { purpose: "quickstart", orgSlug, connection, serverName });
    return { kind: "authorize", url: github.userAuthorizeUrl({ state, redirectUri: callbackUrl() }) };
  };
  if (!userToken) return authorize();
  try {
    return await copyAndCreate({ ctx, orgSlug, serverName, userToken });
  } catch (error) {
    // Revoked at GitHub in the meantime: authorize again.
    if (error instanceof TowpathError && isGitHubError(error.cause, "unauthorized")) return authorize();
    throw error;
  } finally {
    await deleteUserToken(signedIn.sessionId, serverName);
  }
}

async function copyAndCreate(
  call: Pick<Call, "ctx" | "orgSlug" | "serverName"> & { readonly userToken: string },
): Promise<QuickstartResult> {
  const { ctx, orgSlug, serverName, userToken } = call;
  const { number: connection, github } = await gitHub().preferred();
  const created = await withGitHub(() =>
    github.createRepositoryFromSample({
      userToken,
      name: serverName,
      description: "A small MCP server, made with Towpath's quickstart.",
      files: sampleFiles(),
      message: "Start from Towpath's echo sample",
    }),
  );
  const { repository, commitSha, installationId, settingsUrl } = created;
  if (installationId === null) return { kind: "grant", url: settingsUrl, repository: repository.full_name };
  const { project, build } = await deployProject({
    ctx,
    input: {
      orgSlug,
      name: serverName,
      installationId: numberOf(connection, installationId),
      repositoryFullName: repository.full_name,
      entrypoint: sampleEntrypoint,
      trigger: "quickstart",
      commitSha,
    },
  });
  return { kind: "created", projectName: project.name, buildId: build?.id ?? null };
}
