import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApiKey } from "@towpath/core/tenancy/api-key";
import { testContext } from "@towpath/core/testing";
import { commitFiles, git, makeRepository } from "@towpath/git/testing";
import type { Site } from "./site.ts";
import type { Member } from "./visitor.ts";

type Content = Parameters<typeof makeRepository>[1];

/** Repositories of an instance with the same content, and a clone of them. */
export type CodeRepositories = {
  /** A server of a new repository with the content on main and dev. */
  deploy(repository: string): Promise<{ readonly name: string; readonly id: string }>;
  /** Fetches a branch: its commits, newest first, as author and first line. */
  log(repository: string, branch: string): Promise<readonly string[]>;
  /** A file of the fetched branch, without the end of its last line. */
  fileOf(path: string): Promise<string>;
  /** Somebody else's commit to main. */
  pushElsewhere(repository: string, files: Content): Promise<void>;
  /** With a key that may push. */
  cloneUrl(repository: string): string;
  /** In the clone. */
  git(...args: readonly string[]): Promise<string>;
  close(): Promise<void>;
};

export async function codeRepositories(
  site: Pick<Site, "url" | "db">,
  owner: Member,
  content: Content,
): Promise<CodeRepositories> {
  const directory = await mkdtemp(join(tmpdir(), "towpath-code-"));
  const work = join(directory, "work");
  const orgSlug = owner.organization.slug;
  const ctx = testContext(site.db, { kind: "user", userId: owner.userId, ipAddress: null });
  const { key } = await createApiKey({ ctx, input: { orgSlug, kind: "personal", name: "CI", scope: "manage" } });
  await makeRepository(work, content);
  const inWork = (...args: readonly string[]) => git(work, ...args);
  const cloneUrl = (name: string) => `${site.url.replace("://", `://x:${key}@`)}/git/${orgSlug}/${name}.git`;
  const post = async (path: string, body: unknown) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const response = await fetch(`${site.url}/api/v1${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as { readonly project: { readonly id: string } };
  };
  return {
    async deploy(repository) {
      const name = `${repository}-${orgSlug.slice(-6)}`;
      await post("/repositories", { name: repository });
      await inWork("push", "--quiet", cloneUrl(repository), "main:main", "main:dev");
      const { project } = await post(`/repositories/${repository}/deploy`, { name });
      return { name, id: project.id };
    },
    async log(repository, branch) {
      await inWork("fetch", "--quiet", cloneUrl(repository), branch);
      return (await inWork("log", "--format=%an: %s", "FETCH_HEAD")).split("\n");
    },
    fileOf: (path) => inWork("show", `FETCH_HEAD:${path}`),
    async pushElsewhere(repository, files) {
      await inWork("fetch", "--quiet", cloneUrl(repository), "main");
      await inWork("checkout", "--quiet", "--detach", "FETCH_HEAD");
      await commitFiles(work, files, "Change it elsewhere");
      await inWork("push", "--quiet", cloneUrl(repository), "HEAD:main");
      await inWork("checkout", "--quiet", "main");
    },
    cloneUrl,
    git: inWork,
    close: () => rm(directory, { recursive: true, force: true }),
  };
}
