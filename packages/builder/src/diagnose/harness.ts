import type { Diagnosis, DiagnosisAction, HarnessFailureCode } from "@towpath/core/delivery/build/contract";
import { entrypointSchema } from "@towpath/core/projects/project/schema";
import { secretKeyNameSchema } from "@towpath/core/projects/secret/schema";
import {
  askOperator,
  changeCode,
  changeCodeBy,
  changeSettings,
  diagnosis,
  type HarnessFailure,
  quoted,
  rebuild,
} from "../failure.ts";
import type { InspectedServer } from "../inspect/inspect.ts";
import { libraryRemedy } from "./debian-packages.ts";
import { keywordRemedy, olderReleases } from "./framework-release.ts";
import { dependencyFile, hidesOwn, moduleChange, moduleRemedy, requiring } from "./module-missing.ts";

type Per<Value> = Value | ((status: HarnessFailure, server: InspectedServer) => Value);
type Rule = { readonly title: Per<string>; readonly remedy: Per<string>; readonly action: Per<DiagnosisAction> };

/** Title and remedy of each failure. */
const rules: Readonly<Record<HarnessFailureCode, Rule>> = {
  entrypoint_not_found: {
    title: "The entrypoint can't be opened",
    remedy:
      "Set the entrypoint under Settings → Build to what starts the server: a file, a console script or a package.",
    action: changeSettings("build"),
  },
  syntax_error: {
    title: ({ file }) => `${file ?? "A file"} is not valid Python`,
    remedy: (status) =>
      `Correct the code${where(status)}, or request the Python version it is written for in \`.python-version\`.`,
    action: changeCode,
  },
  module_missing: {
    title: (status) =>
      hidesOwn(status)
        ? `An installed package hides the repository's ${status.module}`
        : `The module ${status.module ?? "that is imported"} is not installed`,
    remedy: moduleRemedy,
    action: (status, server) => changeCodeBy(moduleChange(status, server)),
  },
  import_failed: {
    title: ({ file }) => `${file ?? "The entrypoint"} fails while it is being loaded`,
    remedy: (status, { entryFile }) =>
      `Make ${entryFile} importable without side effects: the last line of the traceback says what failed${where(status)}. Move code that only runs the file directly under \`if __name__ == "__main__":\`.`,
    action: changeCode,
  },
  variable_missing: {
    title: ({ candidates: [name, ...others] }) =>
      name !== undefined && others.length === 0
        ? `The environment variable ${name} is not set`
        : "Environment variables are not set",
    remedy: ({ candidates }) =>
      `Add ${candidates.length === 0 ? "the variable that the message names" : quoted(candidates)} under Settings → Environment variables, then rebuild.`,
    action: ({ candidates }) => {
      const names = candidates.filter((name) => secretKeyNameSchema.safeParse(name).success);
      return names.length > 0 ? { kind: "variables", names } : changeSettings("variables");
    },
  },
  object_missing: { title: "The entrypoint's object doesn't exist", remedy: objectRemedy, action: otherObject },
  unsupported_object: {
    title: "The entrypoint's object is not an MCP server",
    remedy: objectRemedy,
    action: otherObject,
  },
  factory_failed: {
    title: "The function that creates the server fails",
    remedy: (status) =>
      `The function must work without arguments and return the server; the last line of the traceback says what failed${where(status)}.`,
    action: changeCode,
  },
  lifespan_failed: {
    title: "The server fails while it is starting",
    remedy: (status) =>
      status.message.includes(issuerRefused)
        ? issuerRemedy
        : `The code that runs when the server starts (its lifespan) failed${where(status)}: the last line of the traceback says why. Services that it connects to must be reachable over the internet.`,
    action: changeCode,
  },
  mcp_version_mismatch: {
    title: "The code is written for another version of the mcp package",
    remedy: ({ candidates: [requirement = "mcp<2"] }, server) =>
      `Pin \`${requirement}\` in ${dependencyFile(server)}${requirement === "mcp<2" ? ", or move the code to `MCPServer` of mcp 2 (or to the `fastmcp` package)" : ""}.`,
    action: ({ candidates: [requirement = "mcp<2"] }, server) => changeCodeBy(requiring([requirement], server)),
  },
  keyword_removed: {
    title: ({ candidates: [keyword = "that is passed"], module }) =>
      `The installed ${module ?? "framework"} doesn't take the argument ${keyword}`,
    remedy: keywordRemedy,
    action: (status, server) => {
      const older = olderReleases(status);
      return changeCodeBy(older === null ? null : requiring(older, server));
    },
  },
  /**
   * Two packages: the first needs something of the second. One: the code needs it. None: the harness's server breaks.
   */
  dependency_mismatch: {
    title: ({ module, candidates: [first, second] }) =>
      first === undefined
        ? `The installed ${module ?? "uvicorn"} keeps the server from being served`
        : second === undefined
          ? `The installed ${first} isn't the one that the code is written for`
          : `${first} doesn't work with the installed ${second}`,
    remedy: ({ module, candidates: [first, second] }) =>
      first === undefined
        ? `Require a newer \`${module ?? "uvicorn"}\`, or loosen the requirement that holds it, or what it needs, at this release: Towpath serves with uvicorn, in the server's own environment.`
        : second === undefined
          ? `Require a release of \`${first}\` that has what the code imports: usually a newer one, or an older one where it was removed.`
          : `Upgrade \`${first}\` to a release that works with it, or require an older \`${second}\` beside it, such as the newest one from the time of your \`${first}\`. A uv.lock keeps versions together that work.`,
    action: changeCode,
  },
  native_library_missing: {
    title: ({ module }) => `The system library ${module ?? "that a package needs"} isn't installed`,
    remedy: ({ module }) => libraryRemedy(module ?? ""),
    action: askOperator,
  },
  program_missing: {
    title: ({ module }) => `The program ${module ?? "that the server runs"} isn't installed`,
    remedy: ({ module }) =>
      isOfAdministrators(module)
        ? "A server can't change the system here. Disable the installation at its start, if it has a variable or an argument for that, and ask the operator to install what it needs on this host. Or change the code: install nothing at the start."
        : `Ask the operator to install the package with \`${module || "it"}\` on this host. Or run it when a tool needs it, not at the start: then the other tools work without it.`,
    action: ({ module }) => (isOfAdministrators(module) ? changeSettings("variables") : askOperator),
  },
  host_unreachable: {
    title: ({ module }) => `The server can't reach ${module ?? "a host"} while it starts`,
    remedy: ({ module }) =>
      isLoopback(module)
        ? "A server here has a `localhost` of its own, on which nothing else runs. Give it the address at which the service can be reached over the internet, by a variable under Settings → Environment variables or an argument under Settings → Build. Better, connect on the first call."
        : `Check that ${module ?? "the host"} exists, and that this platform may reach it: the operator decides that. Better, connect or download on the first call: put models and data that are needed at the start into the repository or a package.`,
    action: ({ module }) => (isLoopback(module) ? changeSettings("variables") : rebuild),
  },
  read_only: {
    title: "The server writes to a read-only place",
    remedy:
      "Write below the home directory (`~`) or the temporary one (`tempfile.gettempdir()`) instead: both are writable, and empty again when the server restarts.",
    action: changeCode,
  },
  arguments_missing: {
    title: "The program needs other arguments",
    remedy: ({ candidates }) =>
      candidates.length === 0
        ? "Set under Settings → Build what you would type after its name, such as a subcommand or `--option value`, and rebuild."
        : "Set as arguments under Settings → Build the command that starts the server, with the options that it needs, and rebuild. If none of them does, set the entrypoint there to what does.",
    action: changeSettings("build"),
  },
  exited_early: {
    title: (status) => (endsItself(status) ? "The program ends itself" : "The program ended without starting a server"),
    remedy: (status) =>
      endsItself(status)
        ? `Its output says why. Give it what it asks for: variables under Settings → Environment variables, or arguments under Settings → Build. Or change the code${where(status)}: a server must keep running.`
        : "Set the entrypoint under Settings → Build to what starts the server. If it starts one only with arguments, such as a subcommand, set those too, and rebuild.",
    action: (status) => changeSettings(endsItself(status) ? "variables" : "build"),
  },
};

/**
 * Turns the harness's status into a diagnosis with a remedy for this project. Pure.
 *
 * @param lastLines output of the server and its child processes
 */
export function diagnoseHarness(
  reported: HarnessFailure,
  server: InspectedServer,
  lastLines: readonly string[] = [],
): Diagnosis {
  const status = { ...reported, message: withOutput(reported.message, lastLines) };
  const { code, message: detail, file, line, traceback: excerpt } = status;
  const { title, remedy, action } = rules[code];
  const texts = { title: of(title, status, server), detail, remedy: of(remedy, status, server) };
  return diagnosis("inspect", code, of(action, status, server), { ...texts, file, line, excerpt });
}

const of = <Value extends string | object>(
  value: Per<Value>,
  status: HarnessFailure,
  server: InspectedServer,
): Value => (typeof value === "function" ? value(status, server) : value);

/** Whether its code exits, rather than reaching its end: then it may be the right program, and name what it lacks. */
export const endsItself = ({ code, traceback }: HarnessFailure): boolean =>
  code === "exited_early" && traceback !== null;

const printedNothing = "It printed nothing.";
const maxQuotedLines = 4;
const maxQuoted = 600;

/** The harness sees its own process's output, not its children's. */
function withOutput(message: string, lastLines: readonly string[]): string {
  const lines = lastLines.map((line) => line.trim()).filter((line) => line !== "");
  if (lines.length === 0 || !message.endsWith(printedNothing)) return message;
  const printed = lines.slice(-maxQuotedLines).join(" / ").slice(-maxQuoted);
  return `${message.slice(0, -printedNothing.length)}It printed: ${printed}`;
}

/** " in server.py line 3". */
const where = ({ file, line }: HarnessFailure): string =>
  file === null ? "" : ` in ${file}${line === null ? "" : ` line ${line}`}`;

/** How the `mcp` package, and FastMCP with it, refuses an OAuth server at `http://`. */
const issuerRefused = "Issuer URL must be HTTPS";
const issuerRemedy =
  "The `mcp` package accepts an OAuth server at `http://` on exactly `localhost` only. Serve this instance over https, or on your own machine by path (`TOWPATH_SERVER_URL=http://localhost:8080/{name}`): see docs/sign-in.md.";

function objectRemedy({ candidates }: HarnessFailure, { entryFile }: InspectedServer): string {
  if (candidates.length === 0) {
    return `Define the server at the top level of ${entryFile} (for example \`mcp = FastMCP("…")\`), or set the entrypoint under Settings → Build to the file that does.`;
  }
  const entrypoints = candidates.map((name) => `${entryFile}:${name}`);
  return `Set the entrypoint under Settings → Build to ${quoted(entrypoints, " or ")}.`;
}

function otherObject({ candidates }: HarnessFailure, { entryFile }: InspectedServer): DiagnosisAction {
  const entrypoints = candidates
    .map((name) => `${entryFile}:${name}`)
    .filter((text) => entrypointSchema.safeParse(text).success);
  return entrypoints.length > 0 ? { kind: "entrypoint", candidates: entrypoints } : changeSettings("build");
}

const isLoopback = (host: string | null) => /^(?:localhost|127\.[\d.]+|::1|0\.0\.0\.0)$/i.test(host ?? "");

/** Programs that change the system, which a server here can't do. */
const ofAdministrators = new Set(["sudo", "su", "doas", "apt", "apt-get", "dnf", "yum", "apk", "brew"]);
const isOfAdministrators = (program: string | null) => ofAdministrators.has(program?.split("/").at(-1) ?? "");
