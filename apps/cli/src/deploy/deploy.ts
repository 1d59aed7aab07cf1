import { existsSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { z } from "zod";
import { type Api, openApi } from "../instance/api.ts";
import { resolveDataDirectory } from "../instance/instance.ts";
import { bold, dim, green, print, printError, Refusal, red, step, yellow } from "../terminal/terminal.ts";
import { pushFolder } from "./push-folder.ts";

const repositorySchema = z.object({
  organization: z.string(),
  pushUrl: z.url(),
  installationId: z.number(),
  repository: z.object({ id: z.number(), fullName: z.string(), defaultBranch: z.string() }),
});
const buildSchema = z.object({ id: z.string(), status: z.string(), commitSha: z.string() });
const projectSchema = z.object({ project: z.object({ name: z.string() }), build: buildSchema.nullable() });
const outcomeSchema = z.object({
  build: buildSchema,
  url: z.string().nullable(),
  diagnosis: z
    .object({ title: z.string(), detail: z.string(), remedy: z.string(), excerpt: z.string().nullable() })
    .nullable(),
});
const lineSchema = z.object({
  phase: z.string(),
  kind: z.enum(["step", "output", "warning", "error"]),
  text: z.string(),
});

type DeployOptions = {
  readonly folder: string;
  readonly name: string;
  readonly entrypoint: string;
  readonly authMode: "towpath-public" | "towpath-cloud";
  readonly organization: string | undefined;
  readonly requirements: string | undefined;
  readonly dataDirectory: string;
};

const usualEntrypoints = ["server.py", "main.py", "app.py", "mcp_server.py", "src/server.py", "src/main.py"];

/** The entrypoint when none was named: a usual file name, or the only Python file of the folder. */
function findEntrypoint(folder: string): string {
  const usual = usualEntrypoints.find((file) => existsSync(join(folder, file)));
  if (usual) return usual;
  const files = readdirSync(folder).filter((file) => file.endsWith(".py"));
  const [only] = files;
  if (files.length === 1 && only) return only;
  if (files.length === 0)
    throw new Refusal(`There is no Python file in ${folder}. Name one further down: --entrypoint FOLDER/FILE.py`);
  throw new Refusal(`Which file is the server? Name it: --entrypoint FILE.py (found: ${files.join(", ")}).`);
}

function parseDeployOptions(args: string[]): DeployOptions {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      name: { type: "string" },
      entrypoint: { type: "string" },
      requirements: { type: "string" },
      public: { type: "boolean", default: false },
      organization: { type: "string" },
      "data-dir": { type: "string" },
    },
  });
  const [given, ...more] = positionals;
  if (!given || more.length > 0) throw new Refusal("Name one folder: ./towpath deploy DIR --name NAME");
  if (!values.name) throw new Refusal("Name the server: ./towpath deploy DIR --name my-server-one");
  const folder = resolve(given);
  if (!existsSync(folder) || !statSync(folder).isDirectory()) throw new Refusal(`There is no folder ${folder}.`);
  return {
    folder,
    name: values.name,
    entrypoint: values.entrypoint ?? findEntrypoint(folder),
    authMode: values.public ? "towpath-public" : "towpath-cloud",
    organization: values.organization,
    requirements: values.requirements,
    dataDirectory: resolveDataDirectory(values["data-dir"]),
  };
}

async function beginBuild(api: Api, options: DeployOptions) {
  const { name, entrypoint, requirements, authMode } = options;
  const target = await api.call("POST", "/api/v1/repositories", repositorySchema, {
    name,
    organization: options.organization,
  });
  const { pushUrl, repository } = target;
  const pushed = await step("Pushing the folder to the local forge", () =>
    pushFolder(options.folder, { url: pushUrl, branch: repository.defaultBranch }),
  );
  const { build } = await api.call("POST", "/api/v1/projects", projectSchema, {
    organization: target.organization,
    installationId: target.installationId,
    repositoryFullName: repository.fullName,
    name,
    entrypoint,
    requirements,
    authMode,
  });
  if (build?.commitSha === pushed.commitSha) return build;
  const path = `/api/v1/projects/${encodeURIComponent(name)}/builds`;
  return (await api.call("POST", path, z.object({ build: buildSchema }), { commitSha: pushed.commitSha })).build;
}

const paintByKind = { step: bold, output: dim, warning: yellow, error: red };

/** Prints the log as it comes. Keeps back the error that may be its last line: the caller knows more about it. */
async function followLog(api: Api, buildId: string): Promise<string | null> {
  let held: string | null = null;
  for await (const { event, data } of api.events(`/api/builds/${buildId}/log`)) {
    if (event === "end") return held;
    if (event !== "line") continue;
    const line = lineSchema.parse(JSON.parse(data));
    if (held !== null) print(held);
    const text = line.text.replaceAll("\n", `\n${" ".repeat(9)}`);
    const shown = `${dim(line.phase.padEnd(8))} ${paintByKind[line.kind](text)}`;
    held = line.kind === "error" ? shown : null;
    if (held === null) print(shown);
  }
  return held;
}

/** `towpath deploy`: folder → forge → project → build → live. Exit status 0 when it is live, 1 when it is not. */
export async function deploy(args: string[]): Promise<number> {
  const options = parseDeployOptions(args);
  const api = openApi(options.dataDirectory);
  const build = await beginBuild(api, options);
  const lastError = await followLog(api, build.id);
  const outcome = await api.call("GET", `/api/v1/builds/${build.id}`, outcomeSchema);
  if (outcome.build.status === "succeeded" && outcome.url) {
    print(`\n${green("Live:")} ${outcome.url}`);
    return 0;
  }
  const { diagnosis } = outcome;
  if (!diagnosis) {
    if (lastError !== null) print(lastError);
    printError(`\n${red("✗")} The build ended as ${outcome.build.status}.`);
    return 1;
  }
  printError(`\n${red("✗")} ${bold(diagnosis.title)}\n  ${diagnosis.detail}`);
  if (diagnosis.excerpt) printError(dim(diagnosis.excerpt.trimEnd().replace(/^/gm, "    ")));
  printError(`  ${bold("What to do:")} ${diagnosis.remedy}`);
  return 1;
}
