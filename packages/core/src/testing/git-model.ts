import { notFound, TowpathError } from "../errors/index.ts";
import type { GitCredential, GitRemote, GitRemotes } from "../ports/index.ts";
import { shaOf } from "./seed.ts";

/** Repositories behind Git URLs as far as core goes: their branches, who may read them, and what was asked. */
export class GitModel {
  readonly url: string;
  /** Names of the newest commits, of which `shaOf` makes ids. */
  readonly heads = new Map<string, string>();
  readonly files = new Map<string, string>();
  defaultBranch: string | null = "main";
  /** Where the host redirects. */
  movedTo: string | null = null;
  /** The only token that reads it; null: it is public. */
  token: string | null = null;
  problem: TowpathError | null = null;
  /** Paths that a commit changes, by its name. */
  readonly changes = new Map<string, readonly string[]>();
  readonly credentials: (GitCredential | null)[] = [];
  questions = 0;

  constructor(url: string) {
    this.url = url;
  }

  readonly remotes: GitRemotes = {
    open: (remote) => ({
      refs: async () => {
        this.#ask(remote);
        const branches = new Map([...this.heads].map(([name, commit]) => [name, shaOf(commit)]));
        return { url: this.movedTo ?? remote.url, defaultBranch: this.defaultBranch, branches };
      },
      commit: async ({ sha }) => {
        this.#ask(remote);
        return this.#commit(sha);
      },
      checkout: async ({ sha }) => {
        this.#ask(remote);
        return {
          commit: this.#commit(sha),
          paths: async () => [...this.files.keys()],
          has: async (path) => this.files.has(path),
          read: async (path) => this.files.get(path) ?? null,
          close: async () => {},
        };
      },
      changedPaths: async (_since, { sha }) => {
        this.#ask(remote);
        const [name = ""] = [...this.heads.values()].filter((commit) => shaOf(commit) === sha);
        return this.changes.get(name) ?? null;
      },
      tarball: async () => new ReadableStream(),
    }),
  };

  #commit(sha: string) {
    const message = [...this.heads.values()].find((name) => shaOf(name) === sha);
    if (message === undefined) throw notFound("commit");
    return { sha, message, author: "Ada" };
  }

  #ask({ url, credential }: GitRemote): void {
    this.questions++;
    this.credentials.push(credential);
    if (this.problem) throw this.problem;
    if (url !== this.url && url !== this.movedTo) throw notFound("repository");
    if (this.token === null) return;
    if (credential === null) throw new TowpathError("not_found", "No repository there. If it is private, add a token.");
    if (credential.kind === "token" && credential.token !== this.token)
      throw new TowpathError("conflict", "The host refuses the token.");
  }
}
