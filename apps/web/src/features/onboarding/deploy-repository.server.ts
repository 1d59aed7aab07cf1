import type { Context } from "@towpath/core/context";
import { TowpathError } from "@towpath/core/errors";
import { type AuthMode, createProject } from "@towpath/core/project";
import type { EnvironmentVariablesInput } from "@towpath/core/secret";
import type { RepositoryAddress } from "@towpath/github";
import { addressOf, gitHub, repositoryAndHead, withGitHub } from "~/github.server.ts";

export type DeployInput = {
  readonly orgSlug: string;
  readonly name: string;
  readonly installationId: number;
  readonly owner: string;
  readonly repo: string;
  readonly entrypoint: string;
  readonly requirements: string | null;
  readonly authMode: AuthMode;
  readonly environmentVariables: EnvironmentVariablesInput;
};

/**
 * Creates the project of a repository and its first build.
 *
 * @throws TowpathError `invalid_input` with `fields.entrypoint` or `fields.requirements` when the repository has no
 * such file: a build would only find out later.
 */
export async function deployRepository(ctx: Context, input: DeployInput) {
  const { orgSlug, name, installationId, entrypoint, requirements } = input;
  const address = await addressOf(ctx, { orgSlug, installationId, owner: input.owner, name: input.repo });
  const { repository, commit } = await repositoryAndHead(address);
  const paths = { entrypoint: entrypoint.split(":", 1)[0] ?? "", requirements };
  if (commit) await requireFiles(address, { ref: commit.sha, branch: repository.defaultBranch }, paths);
  const { project, build } = await createProject({
    ctx,
    input: {
      ...{ orgSlug, name, installationId, repository, commit, entrypoint, requirements },
      authMode: input.authMode,
      environmentVariables: input.environmentVariables,
      trigger: "import",
    },
  });
  return { projectName: project.name, buildId: build?.id ?? null };
}

/** @throws TowpathError `invalid_input` that names each field whose file is not in the commit. */
async function requireFiles(
  address: RepositoryAddress,
  at: { readonly ref: string; readonly branch?: string },
  paths: { readonly entrypoint: string; readonly requirements: string | null },
): Promise<void> {
  const missing = async (path: string | null) =>
    path !== null && !(await withGitHub(() => gitHub().fileExists(address, path, at.ref)));
  const [entrypoint, requirements] = await Promise.all([missing(paths.entrypoint), missing(paths.requirements)]);
  if (!entrypoint && !requirements) return;
  const ref = /^[0-9a-f]{40}([0-9a-f]{24})?$/.test(at.ref) ? at.ref.slice(0, 7) : at.ref;
  const place = `${address.owner}/${address.name} at ${at.branch ? `${at.branch} (${ref})` : ref}`;
  const text = (path: string | null) => `There is no \`${path}\` in ${place}.`;
  const fields = {
    ...(entrypoint && { entrypoint: text(paths.entrypoint) }),
    ...(requirements && { requirements: text(paths.requirements) }),
  };
  throw new TowpathError("invalid_input", Object.values(fields).join(" "), { fields });
}
