import { authModeSchema } from "@towpath/core/projects/project/schema";
import { z } from "zod";
import { parse } from "../commands/parse.ts";
import { connectApi } from "../instance/api.ts";
import { environmentAssignments } from "../servers/env.ts";
import { authModeOf } from "../settings/auth-mode.ts";
import { dim, print, UsageError } from "../terminal/terminal.ts";
import { buildPage, buildSchema, followBuild, outputEnd, printLive, readOutcome } from "./follow-build.ts";
import { argumentsOf } from "./options.ts";
import { registrySource } from "./package-source.ts";

const deployedSchema = z.object({
  project: z.object({ name: z.string(), pathName: z.string(), orgSlug: z.string(), authMode: authModeSchema }),
  build: buildSchema,
  created: z.boolean(),
});

/** `towpath deploy pypi:NAME`, registry:NAME or of a server.json: package → project → build → live (BLD-17). Exit status 0 when it is live, 1 when not. */
export async function deployPackage(args: string[]): Promise<number> {
  const { source, values, settings, variables } = parsePackage(args);
  const api = await connectApi(values);
  const {
    packageName,
    version: pinned,
    required,
    arguments: published,
  } = await registrySource(api, source, values.organization);
  printUnsetVariables(required, variables);
  const body = { ...settings, packageName, version: pinned, arguments: settings.arguments ?? published };
  const { project, build, created } = await api.call("POST", "/api/v1/packages", deployedSchema, {
    body: { ...body, ...(variables.length > 0 && { variables }) },
  });
  const version = `${body.packageName} ${build.packageVersion ?? ""}`;
  if (!created && build.status === "succeeded") {
    print(`Nothing changed since the last build ${dim(`(${version})`)}.`);
    const outcome = await readOutcome(api, build.id);
    outputEnd(outcome);
    printLive(outcome);
    return 0;
  }
  print(`Deploying ${version}${body.follow ? ", and newer versions when the index has them" : ""}.`);
  return followBuild(
    api,
    build.id,
    buildPage(api, { organization: project.orgSlug, project }, { name: project.name, buildId: build.id }),
  );
}

/** @throws CommandError naming what is wrong */
function parsePackage(args: string[]) {
  const { values, positionals } = parse("deploy", args);
  const [source = ""] = positionals;
  if (!values.name) throw new UsageError(`Name the server: towpath deploy ${source} --name my-server-one`);
  const foreign = [
    "requirements",
    "root-directory",
    "preview",
    "message",
    "overwrite",
    "rebuild",
    "branch",
    "token-env",
  ];
  const given: Readonly<Record<string, unknown>> = values;
  for (const option of foreign) {
    if (given[option] !== undefined) throw new UsageError(`--${option} is not for packages.`);
  }
  const settings = {
    name: values.name,
    follow: values.follow,
    entrypoint: values.entrypoint,
    arguments: argumentsOf(values.args),
    authMode: authModeOf(values),
    organization: values.organization,
  };
  const variables = environmentAssignments(values.env ?? []);
  return { source, values, settings, variables };
}

function printUnsetVariables(required: readonly string[], variables: readonly { readonly keyName: string }[]): void {
  const missing = required.filter((name) => !variables.some(({ keyName }) => keyName === name));
  if (missing.length > 0)
    print(dim(`It requires ${missing.join(", ")}: set with --env KEY=VALUE, unless they are set.`));
}
