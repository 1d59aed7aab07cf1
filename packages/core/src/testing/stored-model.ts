import { TowpathError } from "../errors/index.ts";
import type { GitReader, InstanceRepositories } from "../ports/index.ts";
import { GitModel } from "./git-model.ts";
import { shaOf } from "./seed.ts";

const remote = { url: "here", credential: null };

/** Repositories of this instance as far as core goes: their heads, each commit known by its name. */
export class StoredModel {
  readonly all = new Map<string, GitModel>();

  /** The repository, which is made if need be, as by a push. */
  of(id: string): GitModel {
    const found = this.all.get(id) ?? new GitModel(remote.url);
    this.all.set(id, found);
    return found;
  }

  /** What a push to another host does; by default everything arrives. */
  push: InstanceRepositories["push"] = async () => {};

  readonly repositories: InstanceRepositories = {
    create: async (id, defaultBranch) => {
      this.of(id).defaultBranch = defaultBranch;
    },
    remove: async (id) => {
      this.all.delete(id);
    },
    open: (id): GitReader => {
      const { remotes, heads, ...model } = this.of(id);
      const reader = remotes.open(remote);
      return {
        ...reader,
        refs: async () => {
          const { branches, defaultBranch } = await reader.refs();
          const [first = null] = heads.keys();
          const isThere = defaultBranch !== null && heads.has(defaultBranch);
          return { url: null, branches, defaultBranch: isThere ? model.defaultBranch : first };
        },
      };
    },
    listRefs: async (id) =>
      new Map([...this.of(id).heads].map(([name, commit]) => [`refs/heads/${name}`, shaOf(commit)])),
    bundle: async () => null,
    push: (id, remote) => this.push(id, remote),
    setDefaultBranch: async (id, branch) => {
      this.of(id).defaultBranch = branch;
    },
    commitFiles: async (id, { branch, archive, message, author, expectedHead }) => {
      const model = this.of(id);
      const { branches } = await this.repositories.open(id).refs();
      const head = branches.get(branch) ?? null;
      if (expectedHead !== undefined && expectedHead !== head) throw new TowpathError("conflict", "The branch moved.");
      const name = await new Response(archive).text();
      const changed = model.heads.get(branch) !== name;
      model.heads.set(branch, name);
      const sha = (await this.repositories.open(id).refs()).branches.get(branch) ?? "";
      return { commit: { sha, message, author: author.name }, changed, leftOut: [] };
    },
  };
}
