import { parseArgs } from "node:util";
import { packageNameProblem, packageVersionProblem } from "@towpath/core/package/schema";
import { authModeSchema } from "@towpath/core/project/schema";
import { z } from "zod";
import { openApi } from "../instance/api.ts";
import { resolveDataDirectory } from "../instance/instance.ts";
import { authModeOf, authModeOptions } from "../settings/auth-mode.ts";
import { CommandError, dim, print } from "../terminal/terminal.ts";
import { buildPage, buildSchema, followBuild, printLive, readOutcome } from "./follow-build.ts";
import { argumentsOf } from "./options.ts";

const scheme = "pypi:";

/** Whether what is deployed is a package of the index: `pypi:NAME` or `pypi:NAME==VERSION`. */
export const isPackage = (source: string): boolean => source.startsWith(scheme);

const deployedSchema = z.object({
  project: z.object({ name: z.string(), pathName: z.string(), orgSlug: z.string(), authMode: authModeSchema }),
  build: buildSchema.extend({ packageVersion: z.string().nullable() }),
  created: z.boolean(),
});

/** `towpath deploy pypi:NAME`: package → project → build → live (BLD-17). Exit status 0 when it is live, 1 when not. */
export async function deployPackage(args: string[]): Promise<number> {
  const { dataDirectory, ...body } = parse(args);
  const api = openApi(dataDirectory);
  const { project, build, created } = await api.call("POST", "/api/v1/packages", deployedSchema, { body });
  const version = `${body.packageName} ${build.packageVersion ?? ""}`;
  if (!created && build.status === "succeeded") {
    print(`Nothing changed since the last build ${dim(`(${version})`)}.`);
    printLive(await readOutcome(api, build.id));
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
function parse(args: string[]) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      name: { type: "string" },
      follow: { type: "boolean" },
      entrypoint: { type: "string" },
      args: { type: "string" },
      ...authModeOptions,
      organization: { type: "string" },
      "data-dir": { type: "string" },
    },
  });
  const [source = "", ...more] = positionals;
  if (more.length > 0) throw new CommandError("Name one package: ./towpath deploy pypi:NAME --name NAME");
  const [packageName = "", version = "", ...rest] = source.slice(scheme.length).split("==");
  const problem = packageNameProblem(packageName) ?? packageVersionProblem(version);
  if (problem !== null || rest.length > 0) {
    throw new CommandError(`${problem ?? "There are two versions"}: pypi:NAME or pypi:NAME==VERSION`);
  }
  if (!values.name) throw new CommandError(`Name the server: ./towpath deploy ${source} --name my-server-one`);
  return {
    packageName,
    version: version === "" ? null : version,
    name: values.name,
    follow: values.follow,
    entrypoint: values.entrypoint,
    arguments: argumentsOf(values.args),
    authMode: authModeOf(values),
    organization: values.organization,
    dataDirectory: resolveDataDirectory(values["data-dir"]),
  };
}
