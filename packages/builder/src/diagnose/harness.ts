import type { Diagnosis } from "@towpath/core/build/contract";
import type { HarnessStatus } from "@towpath/runtime";
import { diagnosis } from "../failure.ts";
import type { InspectedServer } from "../inspect/inspect.ts";
import { actionOf, endsItself } from "./harness-action.ts";
import { needsEarlyMcp, olderFramework, outsideCauses, takesAnyArgument } from "./outside-causes.ts";

type Failed = Extract<HarnessStatus, { state: "failed" }>;

const titles: Readonly<Record<Failed["code"], (status: Failed) => string>> = {
  entrypoint_not_found: () => "The entrypoint can't be opened",
  syntax_error: (status) => `${status.file ?? "A file"} is not valid Python`,
  module_missing: (status) =>
    hidesOwn(status)
      ? `An installed package hides the repository's ${status.module}`
      : `The module ${status.module ?? "that is imported"} is not installed`,
  import_failed: (status) => `${status.file ?? "The entrypoint"} fails while it is being loaded`,
  variable_missing: (status) =>
    status.candidates.length === 1
      ? `The environment variable ${status.candidates[0]} is not set`
      : "Environment variables are not set",
  object_missing: () => "The entrypoint's object doesn't exist",
  unsupported_object: () => "The entrypoint's object is not an MCP server",
  factory_failed: () => "The function that creates the server fails",
  lifespan_failed: () => "The server fails while it is starting",
  mcp_version_mismatch: () => "The code is written for another version of the mcp package",
  keyword_removed: outsideCauses.keyword_removed.title,
  dependency_mismatch: outsideCauses.dependency_mismatch.title,
  native_library_missing: outsideCauses.native_library_missing.title,
  program_missing: outsideCauses.program_missing.title,
  host_unreachable: outsideCauses.host_unreachable.title,
  read_only: outsideCauses.read_only.title,
  exited_early: (status) =>
    endsItself(status) ? "The program ends itself" : "The program ended without starting a server",
  arguments_missing: outsideCauses.arguments_missing.title,
};

/**
 * Turns the harness's status into a diagnosis with a remedy for this project. Pure.
 * @param lastLines what the server and its child processes have printed
 */
export function diagnoseHarness(found: Failed, server: InspectedServer, lastLines: readonly string[] = []): Diagnosis {
  const status = { ...found, message: withOutput(found.message, lastLines) };
  return diagnosis(
    {
      code: status.code,
      phase: "inspect",
      title: titles[status.code](status),
      detail: status.message,
      remedy: remedyOf(status, server),
      action: actionOf(status, server.entryFile),
    },
    { file: status.file, line: status.line, excerpt: status.traceback },
  );
}

const printedNothing = "It printed nothing.";
const maxQuotedLines = 4;
const maxQuoted = 600;

/** The harness sees what its own process prints, not its children. */
function withOutput(message: string, lastLines: readonly string[]): string {
  const lines = lastLines.map((line) => line.trim()).filter((line) => line !== "");
  if (lines.length === 0 || !message.endsWith(printedNothing)) return message;
  const quoted = lines.slice(-maxQuotedLines).join(" / ").slice(-maxQuoted);
  return `${message.slice(0, -printedNothing.length)}It printed: ${quoted}`;
}

/** A requirement with which the code may work; null when none is known. */
export function requirementFor(status: Failed): string | null {
  if (status.code === "mcp_version_mismatch") return status.candidates[0] ?? null;
  return status.code === "keyword_removed" ? olderFramework(status) : null;
}

/** The first of two installed packages that don't work together; null where it is something else. */
export const outgrownBy = ({ code, candidates: [first, second] }: Failed): string | null =>
  code === "dependency_mismatch" && first !== undefined && second !== undefined ? first : null;

/** A day whose releases took what today's don't take; null where none is known. */
export const timeFor = (status: Failed): typeof takesAnyArgument | null =>
  needsEarlyMcp(status) ? takesAnyArgument : null;

/** Names of commands that start a server, the likeliest first. */
const starting = [
  ...["serve", "server", "start", "stdio", "mcp", "mcp-server", "serve-mcp", "start-mcp-server", "start-server"],
  ...["run-server", "run"],
];

/** The commands by which a program may start its server that was started without any. */
export const startingCommands = ({ code, candidates }: Failed): readonly string[] =>
  code === "arguments_missing" ? starting.filter((each) => candidates.includes(each)) : [];

/**
 * Whether it may start when it is installed like any other package, as `uvx` does it: an installed package hides it, or
 * it looks for something at a number of directories above its own, which a repository's root is too near to.
 */
export const needsInstallation = (status: Failed): boolean =>
  (status.code === "module_missing" && hidesOwn(status)) ||
  (status.code === "import_failed" &&
    /^IndexError\b/.test(status.message) &&
    /\.parents\[/.test(status.traceback ?? ""));

function remedyOf(status: Failed, server: InspectedServer): string {
  const where = status.file === null ? "" : ` in ${status.file}${status.line === null ? "" : ` line ${status.line}`}`;
  switch (status.code) {
    case "entrypoint_not_found":
      return "Set the entrypoint under Settings → Build to what starts the server: a file, a console script or a package.";
    case "syntax_error":
      return `Correct the code${where}, or request the Python version it is written for in \`.python-version\`.`;
    case "module_missing":
      return hidesOwn(status) ? hiddenRemedy(status) : moduleRemedy(status.module ?? "", server);
    case "variable_missing":
      return variableRemedy(status.candidates);
    case "object_missing":
    case "unsupported_object":
      return objectRemedy(status, server);
    case "mcp_version_mismatch":
      return mismatchRemedy(status.candidates[0] ?? "mcp<2", server);
    case "keyword_removed":
    case "dependency_mismatch":
    case "native_library_missing":
    case "program_missing":
    case "host_unreachable":
    case "read_only":
    case "arguments_missing":
      return outsideCauses[status.code].remedy(status);
    case "exited_early":
      if (endsItself(status)) {
        return `What it says is the reason. Give it what it asks for: variables under Settings → Environment variables, or arguments under Settings → Build. Or change the code${where}: a server must keep running.`;
      }
      return "Set the entrypoint under Settings → Build to what starts the server. If it starts one only with arguments, such as a subcommand, set those too, and rebuild.";
    case "import_failed":
      return `Make ${server.entryFile} importable without side effects: the last line of the traceback says what failed${where}. Move code that only runs the file directly under \`if __name__ == "__main__":\`.`;
    case "factory_failed":
      return `The function must work without arguments and return the server; the last line of the traceback says what failed${where}.`;
    case "lifespan_failed":
      if (status.message.includes(issuerRefused)) return issuerRemedy;
      return `The code that runs when the server starts (its lifespan) failed${where}: the last line of the traceback says why. Services that it connects to must be reachable over the internet.`;
  }
}

/** How the `mcp` package, and FastMCP by it, refuses an OAuth server at `http://`. */
const issuerRefused = "Issuer URL must be HTTPS";
const issuerRemedy =
  "The `mcp` package accepts an OAuth server at `http://` on exactly `localhost` only. Serve this instance over https, or on your own machine by path (`TOWPATH_SERVER_URL=http://localhost:8080/{name}`): see docs/sign-in.md.";

function mismatchRemedy(requirement: string, server: InspectedServer): string {
  const pin = `Pin \`${requirement}\` in ${dependencyFile(server)}`;
  if (requirement !== "mcp<2") return `${pin}.`;
  return `${pin}, or move the code to \`MCPServer\` of mcp 2 (or to the \`fastmcp\` package).`;
}

const dependencyFile = ({ dependencies }: InspectedServer) => {
  if (dependencies === null) return "the file that lists the dependencies";
  return dependencies.file === null ? "a new requirements.txt" : `\`${dependencies.file}\``;
};

/** The repository has the module: its file is the candidate. */
const hidesOwn = ({ candidates }: Failed) => candidates.length > 0;

function hiddenRemedy({ module, candidates }: Failed): string {
  const top = `\`${module?.split(".")[0]}\``;
  return `Rename ${top} in the repository (${candidates[0]}), or no longer require what also installs a package ${top}, and push.`;
}

function moduleRemedy(module: string, server: InspectedServer): string {
  const top = module.split(".")[0] ?? module;
  const name = packageFor(module);
  const same = name === top.toLowerCase().replace(/_/g, "-");
  const hint = same ? "" : ` (the package that provides \`${top}\`)`;
  if (server.dependencies === null) {
    return `The preview had what it needs, so \`${top}\` is imported with production's variables only: add \`${name}\`${hint} to the dependencies, and push.`;
  }
  const { kind, file } = server.dependencies;
  if (kind === "none") {
    return `Add \`${name}\`${hint} to a new requirements.txt (with \`fastmcp\`, which is the only package installed now), and push.`;
  }
  const relock = kind === "uv-lock" ? `, run \`uv lock\` and commit uv.lock` : "";
  const how =
    kind === "uv-lock" || kind === "pyproject"
      ? `to the dependencies in \`pyproject.toml\`${relock}`
      : kind === "script"
        ? `to the dependencies in the script block of \`${file}\``
        : `to \`${file}\``;
  return `Add \`${name}\`${hint} ${how}, and push. If \`${top}\` is a module of your own, check that it is committed and can be imported from the repository's root.`;
}

function variableRemedy(names: readonly string[]): string {
  const list = names.map((name) => `\`${name}\``).join(", ");
  const what = names.length === 0 ? "the variable that the message names" : list;
  return `Add ${what} under Settings → Environment variables, then rebuild.`;
}

function objectRemedy(status: Failed, server: InspectedServer): string {
  if (status.candidates.length === 0) {
    return `Define the server at the top level of ${server.entryFile} (for example \`mcp = FastMCP("…")\`), or set the entrypoint under Settings → Build to the file that does.`;
  }
  const list = status.candidates.map((name) => `\`${server.entryFile}:${name}\``).join(" or ");
  return `Set the entrypoint under Settings → Build to ${list}.`;
}

/** Common modules whose package has another name. */
const packages: Readonly<Record<string, string>> = {
  attr: "attrs",
  bs4: "beautifulsoup4",
  cv2: "opencv-python-headless",
  dateutil: "python-dateutil",
  decouple: "python-decouple",
  discord: "discord-py",
  docx: "python-docx",
  dotenv: "python-dotenv",
  fitz: "pymupdf",
  git: "gitpython",
  github: "pygithub",
  googleapiclient: "google-api-python-client",
  jose: "python-jose",
  jwt: "pyjwt",
  magic: "python-magic",
  mysqldb: "mysqlclient",
  openssl: "pyopenssl",
  pil: "pillow",
  pptx: "python-pptx",
  psycopg2: "psycopg2-binary",
  serial: "pyserial",
  skimage: "scikit-image",
  sklearn: "scikit-learn",
  slack_sdk: "slack-sdk",
  telegram: "python-telegram-bot",
  yaml: "pyyaml",
  zmq: "pyzmq",
};

/** The package to install for an import; normalized (PEP 503). */
function packageFor(module: string): string {
  const top = (module.split(".")[0] ?? module).toLowerCase();
  return packages[top] ?? top.replace(/[-_.]+/g, "-");
}
