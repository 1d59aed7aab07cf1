import { signInWarning } from "@towpath/core/build/contract";
import { argumentsText, authModeSchema } from "@towpath/core/project/schema";
import { z } from "zod";
import { parse } from "../commands/parse.ts";
import { argumentsOf } from "../deploy/options.ts";
import { connectApi } from "../instance/api.ts";
import { projectPath } from "../servers/list.ts";
import { bold, CommandError, dim, output, plain, print } from "../terminal/terminal.ts";
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
  data: z.object({ usedBytes: z.number(), capacityBytes: z.number() }).nullish(),
  ownSignIn: z.boolean().nullable(),
  package: z.object({ name: z.string(), follows: z.boolean() }).nullable(),
});

/** `towpath settings NAME`: prints a server's settings, after changing those that are passed. */
export async function settings(args: string[]): Promise<number> {
  const { values, positionals } = parse("settings", args);
  const [name = ""] = positionals;
  const { files, changes } = changesOf(values);
  const isChange = Object.values(changes).some((value) => value !== undefined);
  const api = await connectApi(values);
  const path = projectPath(name);
  const project = isChange
    ? await api.call("PATCH", path, projectSchema, { body: changes })
    : await api.call("GET", path, projectSchema);
  output(project, () => printSettings(project));
  if (changes.keepsData !== undefined) print(dim("\nLasting data takes effect when the server next starts."));
  if (Object.values(files).some((value) => value !== undefined)) {
    print(dim("\nEntrypoint, arguments, requirements and root directory take effect with the next build."));
  }
  if (changes.watchPaths !== undefined) print(dim("\nWatch paths take effect with the next push."));
  return 0;
}

/** What the options change, as the REST API takes it; `files` of it take effect with the next build. */
export function changesOf(values: ReturnType<typeof parse<"settings">>["values"]) {
  const { entrypoint, requirements, "root-directory": rootDirectory } = values;
  const files = { entrypoint, arguments: argumentsOf(values.args), requirements, rootDirectory };
  const changes = {
    ...files,
    authMode: authModeOf(values),
    failOnBreakingChanges: breakingRule(values),
    keepsData: values["keep-data"],
    watchPaths: values.watch,
    followsPackage: values.follow,
  };
  return { files, changes };
}

function breakingRule(values: {
  readonly "fail-on-breaking-changes"?: boolean | undefined;
  readonly "allow-breaking-changes"?: boolean | undefined;
}): boolean | undefined {
  const { "fail-on-breaking-changes": fails, "allow-breaking-changes": allows } = values;
  if (fails && allows) throw new CommandError("Pass --fail-on-breaking-changes or --allow-breaking-changes, not both.");
  return fails ? true : allows ? false : undefined;
}

function dataText({ keepsData, data }: z.infer<typeof projectSchema>): string {
  if (!keepsData) return dim("none: /data is gone when the server stops");
  const megabytes = (bytes: number) => `${Math.ceil(bytes / 1024 ** 2)} MB`;
  return data ? `/data, ${megabytes(data.usedBytes)} of ${megabytes(data.capacityBytes)} used` : "/data";
}

function printSettings(project: z.infer<typeof projectSchema>): void {
  print(bold(project.name));
  const { package: source } = project;
  const lines = {
    address: project.url,
    "can be called by": `${callers[project.authMode]} ${dim(`(${project.authMode})`)}`,
    ...(source && {
      package: `${source.name} ${dim(source.follows ? "newer versions go live" : "stays at its version")}`,
    }),
    entrypoint: project.entrypoint || dim(`found in each ${source ? "version" : "commit"}`),
    arguments: argumentsText(project.arguments) || dim("none"),
    ...(source === null && {
      requirements: project.requirements ?? dim("found in the repository"),
      "pull requests": project.failOnBreakingChanges ? "a check fails that breaks calls" : "checks list what changes",
      "root directory": project.rootDirectory ?? dim("the repository's"),
      "watch paths": project.watchPaths.map(plain).join(", ") || dim("none: every push builds"),
    }),
    "lasting data": dataText(project),
  };
  for (const [label, value] of Object.entries(lines)) print(`  ${label.padEnd(18)}${value}`);
  const warning = signInWarning(project.ownSignIn, project.authMode);
  if (warning !== null) printWarning(warning);
}
