import { packageNameProblem, packageVersionProblem } from "../package/package.schema.ts";
import { gitUrlSchema, hasNoSecret } from "./git-source.schema.ts";
import { type NamedByCommand, readSourceCommand } from "./source-command.schema.ts";
import { decoded, isAccount, isCommit, readSourceLink } from "./source-link.schema.ts";

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
    .split(/\s+/)
    .map((word) => word.replace(/^["'<`]|["'>`]$/g, ""))
    .filter((word) => word !== "");
  const command = readSourceCommand(words);
  if (command !== null) return fromCommand(command);
  const [word = ""] = words;
  if (word === "") return { problem: example };
  if (words.length > 1) return { problem: `This has several words. ${example}` };
  return packageOf(word) ?? registryOf(word) ?? linkOf(word);
}

function fromCommand(command: NamedByCommand): SourceTextResult {
  if (command.kind === "problem") return { problem: `${command.problem} ${example}` };
  if (command.kind === "requirement") return asPackage(command.text);
  const found = repositoryOf(command.url);
  if ("problem" in found || found.source.kind !== "git" || command.branch === null) return found;
  return { source: { ...found.source, branch: isCommit(command.branch) ? null : command.branch } };
}

/** A reference of pip or uv in place of a plain URL. */
function linkOf(word: string): SourceTextResult {
  const command = word.startsWith("git+") ? readSourceCommand(["pip", "install", word]) : null;
  return command === null ? repositoryOf(word) : fromCommand(command);
}

function packageOf(word: string): SourceTextResult | null {
  if (/^pypi:/i.test(word)) return asPackage(word.slice("pypi:".length));
  const page = /^(?:https?:\/\/)?(?:www\.)?pypi\.org\/(?:project|p)\/([^/?#]+)(?:\/([^/?#]+))?/i.exec(word);
  return page ? asPackage(page[2] === undefined ? (page[1] ?? "") : `${page[1]}==${page[2]}`) : null;
}

/** `name`, `name==1.2`, `name[extra]==1.2` or `name@1.2`, as uv writes it; extras and lower bounds are left out. */
function asPackage(text: string): SourceTextResult {
  const [, name = "", rest = ""] = /^([^[=@<>~!;]*)(?:\[[^\]]*\])?([^;]*)/.exec(text) ?? [];
  const [, operator = "", given = ""] = /^(===?|@|>=?)?(.*)$/.exec(rest) ?? [];
  if ((operator === "" && given !== "") || given.includes(","))
    return {
      problem: `Only one version can be deployed. Write pypi:${name} for the newest, or pypi:${name}==VERSION.`,
    };
  const version = operator.startsWith(">") || given === "latest" || given === "" ? null : given;
  const problem = packageNameProblem(name) ?? packageVersionProblem(version ?? "");
  if (problem !== null) return { problem: `${problem}. Write pypi:NAME or pypi:NAME==VERSION.` };
  return { source: { kind: "package", name, version } };
}

/** First parts of names in the registry: top-level domains. Countries' have two letters. */
const domainEnd =
  /^(?:[a-z]{2}|com|org|net|edu|gov|dev|app|xyz|info|biz|cloud|tech|tools|site|online|store|blog|page|codes|software|systems|digital|studio|world|live|run|build|works|team|group|company|health|finance|media|news|games|space|design|agency|one|pro|fun|art|today|email|network|services|solutions|technology|academy|science)$/i;

/** `registry:WORDS`, and names of the registry: a domain backwards, a slash and a name. */
function registryOf(word: string): SourceTextResult | null {
  if (/^registry:/i.test(word)) {
    const search = word.slice("registry:".length);
    return search === "" ? { problem: "Write registry: and the server's name, or a part of it." } : asRegistry(search);
  }
  const [domain = "", name = "", ...more] = word.split("/");
  const labels = domain.split(".");
  const isDomain = labels.length > 1 && labels.every((label) => /^[a-z0-9-]+$/i.test(label));
  // `my.company.com/repository` is a host.
  const isBackwards = domainEnd.test(labels[0] ?? "") && !/^(?:com|org|net|edu|gov)$/i.test(labels.at(-1) ?? "");
  const isName = more.length === 0 && /^[\w.-]+$/.test(name) && !name.endsWith(".git");
  return isDomain && isBackwards && isName ? asRegistry(word) : null;
}

const asRegistry = (search: string): SourceTextResult => ({
  source: { kind: "registry", search: search.slice(0, 200) },
});

function repositoryOf(word: string): SourceTextResult {
  const url = urlOf(word);
  if (url === null) return { problem: unknownWord(word) };
  if (!hasNoSecret(url))
    return { problem: "The URL has a user name or password in it. Paste it without, and add a token instead." };
  if (!/^(?:https?|ssh):$/.test(url.protocol))
    return { problem: "A Git URL begins with https:// or ssh://, or has the form git@host:owner/repository." };
  if (isAccount(url)) {
    const account = decoded(
      url.pathname
        .split("/")
        .filter((part) => part !== "")
        .at(-1) ?? "",
    );
    return {
      problem: `This is an account or group of ${url.host}, not a repository. Open one of its repositories and paste that page's URL, such as https://${url.host}/${account}/REPOSITORY.`,
    };
  }
  const { path, branch, directory } = readSourceLink(url);
  const plain = `${url.protocol}//${url.protocol === "ssh:" && url.username ? `${url.username}@` : ""}${url.host}${path}`;
  const checked = gitUrlSchema.safeParse(plain);
  if (!checked.success) return { problem: checked.error.issues[0]?.message ?? example };
  const last = path.split("/").at(-1) ?? "";
  const name = decoded(last.replace(/\.git$/, ""));
  if (name === "") return { problem: `The URL names a host, but no repository of it. ${example}` };
  return { source: { kind: "git", url: checked.data, branch, directory: directory ?? subdirectoryOf(url), name } };
}

const unknownWord = (word: string): string =>
  packageNameProblem(word) === null
    ? `A name alone can be anything: write pypi:${word} for the package, registry:${word} to search the registry, or paste a repository's URL.`
    : `This is no repository, package or registry entry. ${example}`;

/** Of `#subdirectory=servers/one`, as pip and uv write it. */
const subdirectoryOf = ({ hash }: URL): string | null => new URLSearchParams(hash.slice(1)).get("subdirectory") || null;

/** `git@host:owner/repository.git` as scp writes it, a host without scheme, or `owner/repository` of github.com. */
function urlOf(text: string): URL | null {
  if (/^[a-z][a-z+.-]*:\/\//i.test(text)) return URL.canParse(text) ? new URL(text) : null;
  const scp = /^([\w.-]+)@([\w.-]+):(?!\/\/)\/?(.+)$/.exec(text);
  const candidate = scp
    ? `ssh://${scp[1]}@${scp[2]}/${scp[3]}`
    : /^[\w-]+(?:\.[\w-]+)+(?::\d+)?\/./.test(text)
      ? `https://${text}`
      : /^[A-Za-z0-9][A-Za-z0-9-]{0,38}\/[\w.-]+$/.test(text)
        ? `https://github.com/${text}`
        : null;
  return candidate !== null && URL.canParse(candidate) ? new URL(candidate) : null;
}
