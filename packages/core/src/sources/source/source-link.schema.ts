/** What the address of a page or folder at a Git host says. */
export type SourceLink = {
  /** The repository's path at its host. */
  readonly path: string;
  /** The first part of what follows: a branch's name may have slashes. Null: none is named, or a commit or tag is. */
  readonly branch: string | null;
  readonly directory: string | null;
};

/** Hosts whose repositories are always two parts of the path; others may have groups, or repositories at the top. */
const twoParts = /^(?:www\.)?(?:github\.com|bitbucket\.org|codeberg\.org|gitea\.com)$/;
/** A commit can't be followed; its repository can. */
export const isCommit = (ref: string): boolean => /^[0-9a-f]{40}$|^[0-9a-f]{64}$/.test(ref);
/** Pages of a file or folder: GitHub's, and GitLab's behind `/-/`. */
const views = new Set(["tree", "blob", "raw", "blame", "edit", "commits"]);

/** Whether this path can be no more than an account or group of its host. */
export const isAccount = (url: URL): boolean => {
  const [first = "", second, third] = partsOf(url.pathname);
  if (first === "" || !(twoParts.test(url.host) || url.host === "gitlab.com")) return false;
  return second === undefined || (third === undefined && /^(?:orgs|users|groups)$/.test(first));
};

/** Understands links to folders and files of GitHub, GitLab, Gitea and Bitbucket; other pages name their repository. */
export function readSourceLink(url: URL): SourceLink {
  const parts = partsOf(url.pathname);
  const at = branchOfQuery(url);
  const dash = parts.indexOf("-");
  if (dash > 0) {
    const [view = "", ref, ...rest] = parts.slice(dash + 1);
    return views.has(view) ? linked(parts.slice(0, dash), ref, rest) : repository(parts.slice(0, dash));
  }
  const [scope, owner = "", kind, name = "", page, ...below] = parts;
  // Bitbucket Data Center, which serves repositories at another path than its pages.
  if ((scope === "projects" || scope === "users") && kind === "repos" && name !== "") {
    const path = ["scm", scope === "users" ? `~${owner}` : owner.toLowerCase(), `${name}.git`];
    return { ...linked(path, undefined, page === "browse" ? below : []), branch: at };
  }
  const [view = "", ref = "", ...rest] = parts.slice(2);
  const two = parts.slice(0, 2);
  if (/bitbucket/.test(url.host) && (view === "src" || view === "branch")) {
    return linked(two, isCommit(ref) ? (at ?? undefined) : ref, rest);
  }
  const src = views.has(view) ? -1 : giteaViewAt(parts);
  if (src !== -1) {
    const [named, branch, ...folder] = parts.slice(src + 1);
    return linked(parts.slice(0, src), named === "branch" ? branch : undefined, folder);
  }
  if (views.has(view) && ref !== "") return linked(two, ref, rest);
  return repository(twoParts.test(url.host) ? two : parts);
}

/** Where Gitea's page of files begins: behind owner and name, which may be below a path of its host. */
const giteaViewAt = (parts: readonly string[]): number =>
  parts.findIndex((part, at) => at >= 2 && part === "src" && /^(?:branch|commit|tag)$/.test(parts[at + 1] ?? ""));

const repository = (parts: readonly string[]): SourceLink => linked(parts, undefined, []);

/** A link to a file is one to its folder. */
function linked(path: readonly string[], ref: string | undefined, rest: readonly string[]): SourceLink {
  const folder = rest.map(decoded);
  if (/\.(?:py|toml|json|md|txt|lock|cfg)$/i.test(folder.at(-1) ?? "")) folder.pop();
  return {
    path: `/${path.join("/")}`,
    branch: ref === undefined || isCommit(ref) ? null : decoded(ref),
    directory: folder.join("/") || null,
  };
}

/** Bitbucket's `?at=refs/heads/main`. */
const branchOfQuery = ({ searchParams }: URL): string | null =>
  searchParams.get("at")?.replace(/^refs\/heads\//, "") || null;

const partsOf = (path: string) => path.split("/").filter((part) => part !== "");

export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
