import { gitText } from "./run-git.ts";

export type Signature = { name: string; email: string; date: string };
export type Commit = {
  sha: string;
  tree: string;
  parents: string[];
  author: Signature;
  committer: Signature;
  message: string;
};

const format = "--format=%H%x1f%T%x1f%P%x1f%an%x1f%ae%x1f%aI%x1f%cn%x1f%ce%x1f%cI%x1f%B";

function parseCommit(record: string): Commit {
  const [sha = "", tree = "", parents = "", ...rest] = record.split("\x1f");
  const [authorName = "", authorEmail = "", authorDate = "", name = "", email = "", date = "", ...message] = rest;
  return {
    sha,
    tree,
    parents: parents.split(" ").filter((parent) => parent !== ""),
    author: { name: authorName, email: authorEmail, date: authorDate },
    committer: { name, email, date },
    message: message.join("\x1f").trimEnd(),
  };
}

/** Newest first. `revision` is a sha or `old..new` of shas, never text from outside. */
export async function listCommits(directory: string, revision: string, limit: number): Promise<Commit[]> {
  const text = await gitText(["log", "-z", format, `--max-count=${limit}`, revision, "--"], { directory });
  return text
    .split("\0")
    .filter((record) => record !== "")
    .map(parseCommit);
}

/** Throws when the sha names no commit. */
export async function readCommit(directory: string, sha: string): Promise<Commit> {
  const [commit] = await listCommits(directory, sha, 1);
  if (commit === undefined) throw new Error(`no commit ${sha}`);
  return commit;
}
