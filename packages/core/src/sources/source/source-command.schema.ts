/** What a copied command installs, runs or clones: a repository's URL, a package's requirement, or why it is neither. */
export type NamedByCommand =
  | { readonly kind: "repository"; readonly url: string; readonly branch: string | null }
  | { readonly kind: "requirement"; readonly text: string }
  | { readonly kind: "problem"; readonly problem: string };

const clones = ["git clone", "gh repo clone"];
/** They run their first argument that is no option, and pass it the later ones. */
const runners = ["uvx", "uv tool run", "pipx run", "uv run"];
const installers = [
  "pip install",
  "pip3 install",
  "python -m pip install",
  "python3 -m pip install",
  "uv pip install",
  "uv add",
  "uv tool install",
  "pipx install",
  "poetry add",
];
/** Options whose value is the next argument. */
const valued = new Set([
  "-b",
  "--branch",
  "--depth",
  "-o",
  "--origin",
  "-c",
  "--config",
  "-j",
  "--jobs",
  "--filter",
  "-p",
  "--python",
  "--with",
  "--with-editable",
  "-w",
  "--index",
  "--default-index",
  "-i",
  "--index-url",
  "--extra-index-url",
  "-f",
  "--find-links",
  "--prerelease",
  "--resolution",
  "--index-strategy",
  "--constraint",
  "-t",
  "--target",
  "--directory",
  "--project",
  "--env-file",
  "--extra",
  "--group",
  "--pip-args",
  "--link-mode",
]);
/** Options that name what is run. */
const naming = new Set(["--from", "--spec"]);
const files = new Set(["-r", "--requirement", "--requirements"]);

/** `args`: a line without quotes, split at spaces. Null: not a known command. */
export function readSourceCommand(args: readonly string[]): NamedByCommand | null {
  const given = args[0] === "$" ? args.slice(1) : args;
  const startOf = (commands: readonly string[]) =>
    commands.find((command) => command.split(" ").every((arg, at) => arg === given[at]));
  const cloned = startOf(clones);
  const run = startOf(runners);
  const start = cloned ?? run ?? startOf(installers);
  if (start === undefined) return null;
  const { options, rest } = split(given.slice(start.split(" ").length), run !== undefined);
  const [first] = rest;
  if (cloned !== undefined) {
    const branch = options.get("-b") ?? options.get("--branch") ?? null;
    return first === undefined ? problem("It names no repository.") : { kind: "repository", url: first, branch };
  }
  const named = [...naming].map((name) => options.get(name)).find((value) => value !== undefined);
  // In `NAME @ git+https://…` too, which is one requirement.
  const link = (named === undefined ? rest : [named]).find((arg) => arg.includes("git+"));
  if (link !== undefined) return referenceOf(link.slice(link.indexOf("git+") + "git+".length));
  if ([...files].some((name) => options.has(name))) {
    return problem("It installs a list of requirements. Paste the URL of the repository that has it.");
  }
  if (named !== undefined) return { kind: "requirement", text: named };
  // `uv run --with NAME NAME` runs what it installs.
  const text = start === "uv run" ? options.get("--with") : first;
  if (text === undefined) return problem("It names no package.");
  if (/^[./~]/.test(text)) return problem("It names a directory of your machine.");
  if (run === undefined && rest.length > 1) return problem("It names several packages, of which one is the server's.");
  return { kind: "requirement", text };
}

const problem = (text: string): NamedByCommand => ({ kind: "problem", problem: text });

/** `endsAtFirst`: what follows the first argument belongs to the program that is run. */
function split(args: readonly string[], endsAtFirst: boolean) {
  const options = new Map<string, string>();
  const rest: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? "";
    const equals = arg.indexOf("=");
    if (!arg.startsWith("-")) {
      rest.push(arg);
      // A marker of PEP 508 follows.
      if (endsAtFirst || arg.endsWith(";")) break;
    } else if (equals > 0) options.set(arg.slice(0, equals), arg.slice(equals + 1));
    else if (valued.has(arg) || naming.has(arg) || files.has(arg)) options.set(arg, args[++at] ?? "");
  }
  return { options, rest };
}

/** `https://host/owner/repository.git@branch`, as pip and uv write it behind `git+`. */
function referenceOf(text: string): NamedByCommand {
  const [whole = "", ...fragment] = text.split("#");
  const path = whole.indexOf("/", whole.includes("://") ? whole.indexOf("://") + 3 : 0);
  const at = whole.lastIndexOf("@");
  const [url, branch] = path > 0 && at > path ? [whole.slice(0, at), whole.slice(at + 1)] : [whole, null];
  return { kind: "repository", url: fragment.length === 0 ? url : `${url}#${fragment.join("#")}`, branch };
}
