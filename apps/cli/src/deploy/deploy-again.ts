import { namedVersion } from "@towpath/core/delivery/build/version/schema";
import { z } from "zod";
import { parse } from "../commands/parse.ts";
import { connectApi } from "../instance/api.ts";
import { environmentAssignments, setVariables } from "../servers/env.ts";
import { projectPath } from "../servers/list.ts";
import { dim, print, UsageError } from "../terminal/terminal.ts";
import { buildPage, buildSchema, followBuild, outputEnd, printLive, readOutcome } from "./follow-build.ts";

const projectSchema = z.object({ name: z.string(), orgSlug: z.string(), pathName: z.string() });
const startedSchema = z.object({ build: buildSchema, created: z.boolean() });

/** Options of `settings`, and options that make no sense without a directory. */
const foreign = [
  "entrypoint",
  "args",
  "requirements",
  "root-directory",
  "public",
  "private",
  "auth",
  "message",
  "overwrite",
  "follow",
  "branch",
  "token-env",
  "organization",
] as const;

/** `towpath deploy NAME`: builds the newest commit of a server's repository, or the newest version of its package. */
export async function deployAgain(args: string[]): Promise<number> {
  const { values, positionals } = parse("deploy", args);
  const [name = ""] = positionals;
  const given: Readonly<Record<string, unknown>> = values;
  for (const option of foreign) {
    if (given[option] !== undefined) {
      throw new UsageError(`--${option} is for a directory (with --name) or a package. See towpath settings ${name}.`);
    }
  }
  const variables = environmentAssignments(values.env ?? []);
  const api = await connectApi(values);
  const project = await api.call("GET", projectPath(name), projectSchema);
  if (variables.length > 0) await setVariables(api, name, variables);
  // Changed variables need a new build.
  const reuse = values.rebuild || variables.length > 0 ? "never" : "unless-failed";
  const { build, created } = await api.call("POST", `${projectPath(name)}/builds`, startedSchema, {
    body: { branch: values.preview, reuse },
  });
  if (!created && build.status === "succeeded") {
    const outcome = await readOutcome(api, build.id);
    outputEnd(outcome);
    print(`The newest version is built already ${dim(`(${namedVersion(build)})`)}; --rebuild builds anyway.`);
    printLive(outcome);
    return 0;
  }
  const page = buildPage(api, { organization: project.orgSlug, project }, { name, buildId: build.id });
  return followBuild(api, build.id, page);
}
