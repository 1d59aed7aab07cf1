import type {
  BuildWarning,
  Diagnosis,
  DiagnosisAction,
  DiagnosisCode,
  SettingsSection,
} from "@towpath/core/delivery/build/contract";
import { changeSettings } from "../failure.ts";

// Users who run a package of the index can't change its files: a setting, another version, or its author can help.

const another = "choose another version under Settings → Package, or tell the package's author";
const anotherVersion = "Choose another version under Settings → Package, or tell the package's author.";
const settings = "variables under Settings → Environment variables, or arguments under Settings → Build";

const whatStarts =
  "Set the entrypoint under Settings → Build to what starts the server, as the package's documentation says: a console script, a module, or a function such as `package.cli:main`. If the package isn't an MCP server, nothing starts one.";
const otherRequirements =
  "Choose another version under Settings → Package: a newer one may fix this. Or tell the package's author, who can require versions that work together.";

type Remedy = string | ((found: { readonly remedy: string; readonly action?: DiagnosisAction }) => string);

/** The beginning of remedies for the operator, not for the code's author. */
const fromOperator = "Ask the operator";

/** The same as for a repository: it changes nothing but settings, or is for the operator. */
const same: Remedy = ({ remedy }) => remedy;

/** The beginning of a remedy that otherwise needs the server's author. */
const until =
  (end: string, instead: string): Remedy =>
  ({ remedy }) =>
    `${remedy.split(end)[0]} ${instead}`;

const ofFailures: Readonly<Record<DiagnosisCode, Remedy>> = {
  source_unavailable: `Rebuild in a moment. If it fails again, ${another}.`,
  source_too_large: anotherVersion,
  source_unsafe: anotherVersion,
  entrypoint_not_found: whatStarts,
  requirements_not_found: anotherVersion,
  invalid_project_file: anotherVersion,
  lock_outdated: anotherVersion,
  python_unavailable:
    "Choose another version under Settings → Package. Or ask the operator to install a Python that it allows, or to set TOWPATH_PYTHON_MIRROR to where its builds can be downloaded.",
  dependency_conflict: otherRequirements,
  dependency_not_found: `Choose another version under Settings → Package, or tell the package's author. If what it requires is private, or a mirror is behind, ask the operator to check UV_INDEX.`,
  dependency_build_failed: ({ remedy }) =>
    remedy.startsWith(fromOperator)
      ? `${remedy.split(" Or ")[0]} Or ${another}.`
      : `Choose another version under Settings → Package, or tell the package's author which of its dependencies can't be installed on Linux with this Python. If the disk is full, tell the operator.`,
  index_unreachable: same,
  syntax_error: anotherVersion,
  module_missing:
    "Choose another version under Settings → Package, or tell the package's author that it doesn't require what it imports.",
  import_failed: `The last line of the traceback says what failed. If it lacks a setting, give it ${settings}. Otherwise, ${another}.`,
  variable_missing: same,
  object_missing: whatStarts,
  unsupported_object: whatStarts,
  factory_failed: whatStarts,
  lifespan_failed: ({ remedy }) =>
    remedy.includes("TOWPATH_SERVER_URL")
      ? remedy
      : `The last line of the traceback says why. If it lacks a setting, give it ${settings}. Services that it connects to must be reachable over the internet. Otherwise, ${another}.`,
  mcp_version_mismatch: otherRequirements,
  keyword_removed: otherRequirements,
  dependency_mismatch: otherRequirements,
  native_library_missing: until(" Or require", `Or ${another}.`),
  program_missing: until(" Or ", `Or ${another}.`),
  host_unreachable: until(
    " Better, connect",
    "If its address is a setting of the server, correct it under Settings → Environment variables.",
  ),
  read_only: `If the server has a setting for where it writes, set it to a directory below \`/tmp\` or, if this server keeps one, to \`/data\`. Otherwise, ${another}.`,
  arguments_missing: same,
  start_timeout: ({ remedy, action }) =>
    action?.kind === "rebuild"
      ? remedy
      : `If it waits for a service, check that it has the right ${settings}. Otherwise, ${another}. The operator can allow more time by TOWPATH_START_TIMEOUT_MS.`,
  exited_early: `Its output says why. Give it what it asks for: ${settings}, such as a subcommand. If another program of the package is the server, set the entrypoint there, too. Otherwise, ${another}.`,
  out_of_memory: `Ask the operator for more memory, or ${another}.`,
  output_limit: `If the server has a setting for how much it logs, lower it under Settings → Environment variables. Otherwise, ${another}.`,
  protocol_error: `Check the entrypoint under Settings → Build: it must be what starts the MCP server. Otherwise, ${another}.`,
  build_timeout: `The times in the log show what was slow: ${another}, or rebuild when this platform is less busy.`,
  internal_error: "Tell the operator. Nothing is wrong with the package.",
};

const letTheServerDecide = until(" Or remove", "Nothing else needs to be done.");

const ofWarnings: Readonly<Record<BuildWarning["code"], Remedy>> = {
  python_replaced: "If the server doesn't work as it should, ask the operator to install the Python that it asks for.",
  // A package has no repository, and no lock.
  source_incomplete: same,
  lock_renewed: same,
  // These are written for packages already (attempts/).
  older_dependencies: same,
  requirement_added: same,
  // A package names its programs, so its files are not searched.
  other_servers: same,
  empty_passed_over: same,
  bridged: "Choose a newer version of the package when there is one that requires `mcp>=1.8`, or tell its author.",
  nothing_offered: `It may offer more with other settings: ${settings}. Otherwise, ${another}.`,
  incomplete:
    "Set the entrypoint under Settings → Build to what you would start, such as a console script of the package, with its arguments.",
  list_failed: `The build log has its output. If the server lacks a setting, give it ${settings}. Otherwise, ${another}.`,
  lists_not_read:
    "Nothing needs to be done. To see them here, set the entrypoint under Settings → Build to the MCP server object, such as `package.server:mcp`, instead of an app around it.",
  sign_in_unreachable: letTheServerDecide,
  sign_in_hidden: letTheServerDecide,
  open_to_anyone:
    "Choose under Access that only members can call it, or switch on the server's own sign-in if it has one.",
};

const remedyOf = (remedy: Remedy, found: BuildWarning | Diagnosis) =>
  typeof remedy === "string" ? remedy : remedy(found);

/** The part of the settings with which the user can fix a failure; if omitted, another version. */
const sectionOf: Partial<Readonly<Record<DiagnosisCode, SettingsSection>>> = {
  factory_failed: "build",
  protocol_error: "build",
  exited_early: "variables",
  import_failed: "variables",
  lifespan_failed: "variables",
  output_limit: "variables",
  read_only: "variables",
  start_timeout: "variables",
};

/** The file of the project that requires the package: nobody wrote it, see `packageSource`. */
const madeUp = "pyproject.toml";

/** The diagnosis of a package's build, with remedies for users who can't change the package. Pure. */
export const failureOfPackage = (found: Diagnosis): Diagnosis => ({
  ...found,
  detail: found.detail.replaceAll(`\`${madeUp}\``, "the package"),
  file: found.file === madeUp ? null : found.file,
  remedy: remedyOf(ofFailures[found.code], found),
  action: found.action.kind === "code" ? changeSettings(sectionOf[found.code] ?? "package") : found.action,
});

/** See `failureOfPackage`. */
export const warningOfPackage = (found: BuildWarning): BuildWarning => ({
  ...found,
  remedy: remedyOf(ofWarnings[found.code], found),
});
