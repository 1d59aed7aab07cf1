import { type project, repository } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import type { Context, SourceServices } from "../../context/index.ts";
import { notFound, TowpathError } from "../../errors/index.ts";
import { addressOf, type EditedRepository, type GitReader, type RepositoryAddress } from "../../ports/index.ts";
import { findGitSource, nameOfUrl, openGitSource, openRemote, openRepository, sourceOf } from "../source/internal.ts";

type ProjectRow = typeof project.$inferSelect;

export type FileServices = SourceServices | "gitFiles" | "gitHubFiles";

/** The repository of a server, for people who look into it. */
export type SourceRepository = {
  readonly kind: "github" | "git" | "repository";
  /** For people. */
  readonly name: string;
  readonly reader: GitReader;
  /** The branch that goes live, if the owner named one. */
  readonly named: string | null;
  /** At GitHub. */
  readonly address: RepositoryAddress | null;
  /** Of this instance. */
  readonly repositoryId: string | null;
  /** To read files. */
  files(): Promise<EditedRepository>;
};

/** @throws TowpathError `conflict` for a package; `not_found` for a server without code here, or without access to it */
export async function sourceRepository(ctx: Context<FileServices>, of: ProjectRow): Promise<SourceRepository> {
  const source = sourceOf(of);
  if (source === null) throw notFound("source");
  if (source.kind === "package") {
    const message = `This server runs the package ${source.name}, so it has no repository to look into.`;
    throw new TowpathError("conflict", message);
  }
  if (source.kind === "github") {
    const reader = await openRepository(ctx, of, "source");
    if (reader === null || source.installationId === null) {
      throw new TowpathError("not_found", `GitHub is disconnected from ${source.fullName}. Connect the account again.`);
    }
    const address = addressOf(source.installationId, source.fullName);
    return {
      kind: "github",
      name: source.fullName,
      reader,
      named: source.branch,
      address,
      repositoryId: null,
      files: async () => ({ key: of.id, remote: await ctx.gitHubFiles.reading(address) }),
    };
  }
  const row = await findGitSource(ctx.db, of.id);
  if (row === null) throw notFound("source");
  const { repositoryId, url: stored, branch: named } = row;
  const url = stored ?? "";
  const reader = await openGitSource(ctx, of.organizationId, row, "source");
  if (repositoryId !== null) {
    const [found] = await ctx.db.select().from(repository).where(eq(repository.id, repositoryId));
    if (!found) throw notFound("repository");
    const { name } = found;
    return {
      kind: "repository",
      name,
      reader,
      named,
      address: null,
      repositoryId,
      files: async () => ({ repositoryId }),
    };
  }
  const files = async () => ({
    key: of.id,
    remote: await openRemote(ctx, of.organizationId, { ...row, url }, "source"),
  });
  return { kind: "git", name: nameOfUrl(url), reader, named, address: null, repositoryId: null, files };
}
