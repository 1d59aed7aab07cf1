import { requestedPython } from "@towpath/builder/entrypoints";
import type { Context } from "@towpath/core/context";
import { checkProjectName, proposeServerName } from "@towpath/core/projects/project";
import { serverNameFrom } from "@towpath/core/projects/project/schema";
import { type LookedAtSource, lookAtSource } from "@towpath/core/sources/source";
import { repositoryProposals } from "~/features/organization/github/repository-proposals.ts";

/** Looks into the repository behind a Git URL, by the same rules as a build. */
export async function lookIntoSource(call: Parameters<typeof lookAtSource>[0]) {
  const { checkout, ...found } = await lookAtSource(call);
  try {
    const { commit } = checkout;
    const read = (path: string) => checkout.read(path);
    const proposals = await repositoryProposals(await checkout.paths(), read);
    const python = await pythonIn(found.directory, read);
    const serverName = await nameLike(call.ctx, found);
    return { ...found, commit, ...proposals, python, serverName };
  } finally {
    await checkout.close();
  }
}

async function pythonIn(directory: string | null, read: (path: string) => Promise<string | null>) {
  const prefix = directory === null ? "" : `${directory}/`;
  const [versionFile, pyproject] = await Promise.all([
    read(`${prefix}.python-version`),
    read(`${prefix}pyproject.toml`),
  ]);
  return requestedPython({ versionFile, pyproject });
}

/** A free name for the server: the folder's or the repository's, with "-server" if taken, else a random one. */
async function nameLike(ctx: Context, { directory, name }: Pick<LookedAtSource, "directory" | "name">) {
  const last = (path: string) => path.split("/").at(-1) ?? "";
  const bases = [...(directory === null ? [] : [last(directory)]), last(name)];
  for (const base of bases.flatMap((each) => [each, `${each}-server`])) {
    const candidate = serverNameFrom(base);
    if (candidate !== null && (await checkProjectName({ ctx, input: { name: candidate } })).available) return candidate;
  }
  return (await proposeServerName({ ctx })).name;
}
