import { packageNameProblem, packageVersionProblem } from "../package/package.schema.ts";
import { gitUrlSchema } from "./git-source.schema.ts";

/** What a person pastes to name where a server's code comes from (SRC-2). Pure, for browser, terminal and server. */
export type SourceText =
  /** A repository behind a Git URL. `branch`, `directory`: of a link to a folder or branch; null: not named. */
  | {
      readonly kind: "git";
      readonly url: string;
      /** In a link a branch ends where the directory begins, and both may have slashes: this is the first part. */
      readonly branch: string | null;
      readonly directory: string | null;
      /** Last part of the path, without `.git`: proposes the server's name. */
      readonly name: string;
    }
  /** A package of the index. */
  | { readonly kind: "package"; readonly name: string; readonly version: string | null }
  /** An entry of the MCP registry, or words to find one. */
  | { readonly kind: "registry"; readonly search: string };

/** `problem`: what is wrong with the text and what to paste instead; never repeats a password in it. */
export type SourceTextResult = { readonly source: SourceText } | { readonly problem: string };

const example = "Paste a repository's URL such as https://github.com/owner/repository, pypi:PACKAGE or registry:NAME.";

/** Understands URLs, links to folders, `owner/repository`, `git clone …`, names of packages and of registry entries. */
export function parseSourceText(text: string): SourceTextResult {
  const words = text
    .trim()
    .replace(/^["'<]|["'>]$/g, "")
    .split(/\s+/);
  const command = commandOf(words);
  if (command !== null) return command;
  const [word = ""] = words;
  if (word === "") return { problem: example };
  if (words.length > 1) return { problem: `This has several words. ${example}` };
  return packageOf(word) ?? registryOf(word) ?? repositoryOf(word);
}

/** `git clone [options] URL`, and the commands that install or run a package. */
function commandOf(words: readonly string[]): SourceTextResult | null {
  const line = words.join(" ");
  const clone = /^(?:\$ )?git clone (.+)$/.exec(line)?.[1];
  if (clone !== undefined) {
    const branch = /(?:^|\s)(?:-b|--branch)[ =](\S+)/.exec(clone)?.[1] ?? null;
    const url = clone.split(" ").find((word) => /[:/]/.test(word) && !word.startsWith("-"));
    const found = url === undefined ? { problem: example } : repositoryOf(url);
    if ("problem" in found || found.source.kind !== "git" || branch === null) return found;
    return { source: { ...found.source, branch } };
  }
  const installed =
    /^(?:\$ )?(?:pip3? install|uv pip install|uv add|uvx|pipx (?:install|run)|uv tool (?:install|run)) (?:--?\S+ )*(\S+)$/.exec(
      line,
    )?.[1];
  if (installed === undefined) return null;
  return installed.startsWith("git+") ? repositoryOf(installed.slice("git+".length)) : asPackage(installed);
}

function packageOf(word: string): SourceTextResult | null {
  if (/^pypi:/i.test(word)) return asPackage(word.slice("pypi:".length));
  const page = /^(?:https?:\/\/)?(?:www\.)?pypi\.org\/(?:project|p)\/([^/?#]+)(?:\/([^/?#]+))?/i.exec(word);
  return page ? asPackage(page[2] === undefined ? (page[1] ?? "") : `${page[1]}==${page[2]}`) : null;
}

/** `name`, `name==1.2`, `name[extra]==1.2` or `name@1.2`, as uv writes it; extras are left out. */
function asPackage(text: string): SourceTextResult {
  const [, name = "", version = null] = /^([^[=@<>~!]*)(?:\[[^\]]*\])?(?:(?:==|@)(.+))?$/.exec(text) ?? [];
  const pinned = version === "latest" ? null : version;
  const problem = packageNameProblem(name) ?? packageVersionProblem(pinned ?? "");
  if (problem !== null) return { problem: `${problem}. Write pypi:NAME or pypi:NAME==VERSION.` };
  return { source: { kind: "package", name, version: pinned } };
}

/** `registry:WORDS`, and names of the registry: a domain backwards, a slash and a name. */
function registryOf(word: string): SourceTextResult | null {
  if (/^registry:/i.test(word)) {
    const search = word.slice("registry:".length);
    return search === "" ? { problem: "Write registry: and the server's name, or a part of it." } : asRegistry(search);
  }
  return /^(?:com|io|ai|dev|org|net|app|co|me|sh|xyz)(?:\.[a-z0-9-]+)+\/[\w.-]+$/i.test(word) ? asRegistry(word) : null;
}

const asRegistry = (search: string): SourceTextResult => ({
  source: { kind: "registry", search: search.slice(0, 200) },
});

function repositoryOf(word: string): SourceTextResult {
  const url = urlOf(word);
  if (url === null) return { problem: `This is no repository, package or registry entry. ${example}` };
  if (url.password !== "" || (url.username !== "" && url.username !== "git"))
    return { problem: "The URL has a user name or password in it. Paste it without, and add a token instead." };
  if (!/^(?:https?|ssh):$/.test(url.protocol))
    return { problem: "A Git URL begins with https:// or ssh://, or has the form git@host:owner/repository." };
  const { path, branch, directory } = splitPath(url);
  const plain = `${url.protocol}//${url.protocol === "ssh:" && url.username ? `${url.username}@` : ""}${url.host}${path}`;
  const checked = gitUrlSchema.safeParse(plain);
  if (!checked.success) return { problem: checked.error.issues[0]?.message ?? example };
  const last = path.split("/").at(-1) ?? "";
  const name = decoded(last.replace(/\.git$/, ""));
  if (name === "") return { problem: `The URL names a host, but no repository of it. ${example}` };
  return { source: { kind: "git", url: checked.data, branch, directory, name } };
}

/** `git@host:owner/repository.git` as scp writes it, a host without scheme, or `owner/repository` of github.com. */
function urlOf(word: string): URL | null {
  const text = word.replace(/^git\+/, "");
  if (/^[a-z][a-z+.-]*:\/\//i.test(text)) return URL.canParse(text) ? new URL(text) : null;
  const scp = /^(?:([\w.-]+)@)([\w.-]+):(?!\/\/)\/?(.+)$/.exec(text);
  const candidate = scp
    ? `ssh://${scp[1]}@${scp[2]}/${scp[3]}`
    : /^[\w-]+(?:\.[\w-]+)+(?::\d+)?\/./.test(text)
      ? `https://${text}`
      : /^[A-Za-z0-9][A-Za-z0-9-]{0,38}\/[\w.-]+$/.test(text)
        ? `https://github.com/${text}`
        : null;
  return candidate !== null && URL.canParse(candidate) ? new URL(candidate) : null;
}

type Split = { readonly path: string; readonly branch: string | null; readonly directory: string | null };

/** Hosts whose repositories are always two parts of the path; others may have groups. */
const twoParts = /^(?:www\.)?(?:github\.com|bitbucket\.org|codeberg\.org|gitea\.com)$/;

/** The repository's path, and what a link to a folder or file of GitHub, GitLab, Bitbucket or Gitea says beside it. */
function splitPath(url: URL): Split {
  const path = url.pathname.replace(/\/{2,}/g, "/").replace(/\/$/, "");
  const gitLab = /^(.+?)\/-\/(tree|blob)\/([^/]+)(?:\/(.+))?$/.exec(path);
  if (gitLab) return linked(gitLab[1], gitLab[3], gitLab[4], gitLab[2] === "blob");
  const gitea = /^(\/[^/]+\/[^/]+)\/src\/branch\/([^/]+)(?:\/(.+))?$/.exec(path);
  if (gitea) return linked(gitea[1], gitea[2], gitea[3], false);
  const gitHub = /^(\/[^/]+\/[^/]+)\/(tree|blob)\/([^/]+)(?:\/(.+))?$/.exec(path);
  if (gitHub) return linked(gitHub[1], gitHub[3], gitHub[4], gitHub[2] === "blob");
  const bitbucket = /bitbucket/.test(url.host) ? /^(\/[^/]+\/[^/]+)\/src\/([^/]+)(?:\/(.+))?$/.exec(path) : null;
  if (bitbucket) return linked(bitbucket[1], bitbucket[2], bitbucket[3], false);
  // A page of the repository, such as its issues.
  const page = twoParts.test(url.host) ? /^(\/[^/]+\/[^/]+)\/./.exec(path)?.[1] : /^(.+?)\/-\//.exec(path)?.[1];
  return { path: page ?? path, branch: null, directory: null };
}

/** A link to a file is one to its folder. */
function linked(path = "", branch = "", rest: string | undefined, isFile: boolean): Split {
  const parts = decoded(rest ?? "")
    .split("/")
    .filter((part) => part !== "");
  const directory = (isFile || /\.(?:py|toml|json|md)$/.test(parts.at(-1) ?? "") ? parts.slice(0, -1) : parts).join(
    "/",
  );
  return { path, branch: decoded(branch), directory: directory === "" ? null : directory };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
