import { signInWarning } from "@towpath/core/delivery/build/contract";
import { argumentsText, authModeSchema } from "@towpath/core/projects/project/schema";
import { z } from "zod";
import { parse } from "../commands/parse.ts";
import { argumentsOf } from "../deploy/options.ts";
import { type Api, connectApi } from "../instance/api.ts";
import { projectPath } from "../servers/list.ts";
import { bold, dim, green, output, plain, print, UsageError } from "../terminal/terminal.ts";
import { printWarning } from "../terminal/warning.ts";
import { authModeOf, callers } from "./auth-mode.ts";

const projectSchema = z.looseObject({
  name: z.string(),
  url: z.string(),
  authMode: authModeSchema,
  entrypoint: z.string(),
  arguments: z.array(z.string()),
  requirements: z.string().nullable(),
  rootDirectory: z.string().nullable(),
  watchPaths: z.array(z.string()),
  failOnBreakingChanges: z.boolean(),
  keepsData: z.boolean(),
  /** Absent in earlier instances. */
  callerProbe: z.object({ tool: z.string(), arguments: z.record(z.string(), z.unknown()) }).nullish(),
  replay: z.looseObject({ tools: z.array(z.string()), isRequired: z.boolean() }).nullish(),
  checkQuestions: z.looseObject({ isOn: z.boolean(), texts: z.array(z.string()) }).optional(),
  data: z.object({ usedBytes: z.number(), capacityBytes: z.number() }).nullish(),
  ownSignIn: z.boolean().nullable(),
  package: z.object({ name: z.string(), follows: z.boolean() }).nullable(),
  source: z.looseObject({ kind: z.string() }).nullish(),
});
/** `branch`: the one that goes live, if it was chosen. */
const sourceSchema = z.object({ branch: z.string().nullish(), defaultBranch: z.string().optional() });
type Source = z.infer<typeof sourceSchema>;

type Project = z.infer<typeof projectSchema>;

/** `towpath settings NAME`: changes the passed settings, and prints all. */
export async function settings(args: string[]): Promise<number> {
  const { values, positionals } = parse("settings", args);
  const [name = ""] = positionals;
  const { files, changes: asked } = changesOf(values);
  const { branch } = values;
  const api = await connectApi(values);
  const path = projectPath(name);
  const before = await api.call("GET", path, projectSchema);
  const changes = { ...asked, replay: replayOf(values, before), checkQuestions: questionsOf(values, before) };
  const isOfProject = Object.values(changes).some((value) => value !== undefined);
  const sourceBefore = await readSource(api, path, before);
  // First: only this can be refused by a host elsewhere, and then nothing has changed.
  const body = { branch: branch || null };
  const source =
    branch === undefined ? sourceBefore : await api.call("PATCH", `${path}/source`, sourceSchema, { body });
  const project = isOfProject ? await api.call("PATCH", path, projectSchema, { body: changes }) : before;
  // The live version's entrypoint was found only if none was set before either.
  const found = before.entrypoint === "" ? await foundEntrypoint(api, name) : null;
  output({ ...project, branch: source?.branch ?? null }, () => printSettings(project, { found, source }));
  if (isOfProject || branch !== undefined) {
    printChanges(settingLines(before, { found, source: sourceBefore }), settingLines(project, { found, source }));
  }
  if (branch !== undefined) print(dim("\nThe branch goes live once its newest commit is built."));
  if (changes.keepsData !== undefined) print(dim("\nLasting data takes effect when the server next starts."));
  if (Object.values(files).some((value) => value !== undefined)) {
    print(dim("\nEntrypoint, arguments, requirements and root directory take effect with the next build."));
  }
  if (changes.watchPaths !== undefined) print(dim("\nWatch paths take effect with the next push."));
  return 0;
}

/** Null for servers that aren't built from a repository. */
async function readSource(api: Api, path: string, { source }: Project): Promise<Source | null> {
  if (!source || source.kind === "package") return null;
  return (await api.call("GET", `${path}/source`, z.object({ source: sourceSchema }))).source;
}

/** The options as changes for the REST API; those in `files` take effect with the next build. */
export function changesOf(values: ReturnType<typeof parse<"settings">>["values"]) {
  const { entrypoint, requirements, "root-directory": rootDirectory } = values;
  const found = entrypoint === "" ? null : entrypoint;
  const files = { entrypoint: found, arguments: argumentsOf(values.args), requirements, rootDirectory };
  const changes = {
    ...files,
    authMode: authModeOf(values),
    failOnBreakingChanges: breakingRule(values),
    keepsData: values["keep-data"],
    watchPaths: values.watch,
    followsPackage: values.follow,
    callerProbe: probeOf(values["check-values"]),
  };
  return { files, changes };
}

function breakingRule(values: {
  readonly "fail-on-breaking-changes"?: boolean | undefined;
  readonly "allow-breaking-changes"?: boolean | undefined;
}): boolean | undefined {
  const { "fail-on-breaking-changes": fails, "allow-breaking-changes": allows } = values;
  if (fails && allows) throw new UsageError("Pass --fail-on-breaking-changes or --allow-breaking-changes, not both.");
  return fails ? true : allows ? false : undefined;
}

/** `TOOL` or `TOOL {JSON}`; null for an empty text. */
function probeOf(text: string | undefined) {
  if (text === undefined) return undefined;
  const [, tool = "", given = ""] = /^\s*(\S*)\s*(.*)$/s.exec(text) ?? [];
  if (tool === "") return null;
  try {
    const parsed: unknown = given === "" ? {} : JSON.parse(given);
    return { tool, arguments: z.record(z.string(), z.unknown()).parse(parsed) };
  } catch {
    throw new UsageError(`--check-values: what follows ${tool} must be a JSON object, such as '${tool} {"limit": 1}'.`);
  }
}

const replayChoices = ["on", "required", "off"] as const;

/** The setting with what was passed of it; undefined: nothing. @throws UsageError */
function replayOf(
  { replay: given, "replay-tool": tools }: ReturnType<typeof parse<"settings">>["values"],
  { replay: before }: Project,
) {
  if (given === undefined && tools === undefined) return undefined;
  const choice = given === undefined ? undefined : replayChoices.find((each) => each === given);
  if (given !== undefined && choice === undefined)
    throw new UsageError(`--replay must be on, required or off, not ${given}.`);
  if (choice === "off") return null;
  if (choice === undefined && !before) throw new UsageError("Pass --replay on too: calls are not replayed yet.");
  return {
    ...before,
    ...(choice !== undefined && { isRequired: choice === "required" }),
    ...(tools !== undefined && { tools: tools.filter((tool) => tool !== "") }),
  };
}

function replayText({ replay }: Project): string {
  if (!replay) return dim("not replayed");
  const rule = replay.isRequired ? "; the check fails where answers are different" : "";
  const also = replay.tools.length > 0 ? `; also ${replay.tools.map(plain).join(", ")}` : "";
  return `replayed on previews${rule}${also}`;
}

/** The setting with what was passed of it; undefined: nothing. @throws UsageError */
function questionsOf(
  { questions: given, question: texts }: ReturnType<typeof parse<"settings">>["values"],
  { checkQuestions: before }: Project,
) {
  if (given === undefined && texts === undefined) return undefined;
  if (given !== undefined && given !== "on" && given !== "off")
    throw new UsageError(`--questions must be on or off, not ${given}.`);
  return {
    ...before,
    ...(given !== undefined && { isOn: given === "on" }),
    ...(texts !== undefined && { texts: texts.filter((text) => text !== "") }),
  };
}

function questionsText({ checkQuestions }: Project): string {
  const count = checkQuestions?.texts.length ?? 0;
  const amount = count === 1 ? "1 question" : `${count} questions`;
  if (!checkQuestions?.isOn) return dim(count === 0 ? "not asked" : `not asked; ${amount} saved`);
  return count === 0 ? "asked, but no question is saved" : `asked ${amount} on previews`;
}

const probeText = ({ tool, arguments: given }: NonNullable<Project["callerProbe"]>) =>
  plain(Object.keys(given).length === 0 ? tool : `${tool} ${JSON.stringify(given)}`);

function dataText({ keepsData, data }: Project): string {
  if (!keepsData) return dim("none: /data is gone when the server stops");
  const megabytes = (bytes: number) => `${Math.ceil(bytes / 1024 ** 2)} MB`;
  return data ? `/data, ${megabytes(data.usedBytes)} of ${megabytes(data.capacityBytes)} used` : "/data";
}

const liveSchema = z.object({ live: z.object({ buildId: z.string() }).nullable() });
const buildSchema = z.object({ build: z.object({ entrypoint: z.string() }) });

/** The entrypoint that the live version's build found; null when nothing is live. */
async function foundEntrypoint(api: Api, name: string): Promise<string | null> {
  const { live } = await api.call("GET", `${projectPath(name)}/status`, liveSchema);
  if (live === null) return null;
  const { build } = await api.call("GET", `/api/v1/builds/${live.buildId}`, buildSchema);
  return build.entrypoint || null;
}

type Lines = Readonly<Record<string, string>>;

function printChanges(before: Lines, after: Lines): void {
  const changed = Object.entries(after).filter(([label, text]) => before[label] !== text);
  print(changed.length === 0 ? dim("\nNothing changed: it was set like this already.") : "");
  for (const [label, text] of changed) print(`${green("✓")} ${label}: ${before[label] ?? dim("none")} → ${text}`);
}

function printSettings(project: Project, more: Found): void {
  print(bold(project.name));
  for (const [label, text] of Object.entries(settingLines(project, more))) print(`  ${label.padEnd(18)}${text}`);
  const warning = signInWarning(project.ownSignIn, project.authMode);
  if (warning !== null) printWarning(warning);
}

type Found = {
  /** The entrypoint that the live version's build found; null if unknown. */
  readonly found: string | null;
  readonly source: Source | null;
};

function branchText({ branch, defaultBranch }: Source): string {
  if (branch) return plain(branch);
  return dim(defaultBranch ? `the repository's default, now ${plain(defaultBranch)}` : "the repository's default");
}

function settingLines(project: Project, { found, source: repository }: Found): Lines {
  const { package: source } = project;
  const unset = found ? `${plain(found)} ${dim("(found automatically)")}` : dim("found automatically");
  return {
    address: project.url,
    "can be called by": `${callers[project.authMode]} ${dim(`(${project.authMode})`)}`,
    ...(source && {
      package: `${source.name} ${dim(source.follows ? "newer versions go live" : "stays at its version")}`,
    }),
    ...(repository && { branch: branchText(repository) }),
    entrypoint: project.entrypoint || unset,
    arguments: argumentsText(project.arguments) || dim("none"),
    ...(source === null && {
      requirements: project.requirements ?? dim("found in the repository"),
      "pull requests": project.failOnBreakingChanges ? "a check fails that breaks calls" : "checks list what changes",
      "production's calls": replayText(project),
      "a model": questionsText(project),
      "root directory": project.rootDirectory ?? dim("the repository's"),
      "watch paths": project.watchPaths.map(plain).join(", ") || dim("none: every push builds"),
    }),
    "lasting data": dataText(project),
    ...(project.callerProbe && { "values checked by": probeText(project.callerProbe) }),
  };
}
