import { namedVersion } from "@towpath/core/delivery/build/version/schema";
import { authModeSchema, serverNameFrom } from "@towpath/core/projects/project/schema";
import { parseSourceText } from "@towpath/core/sources/source/text/schema";
import { z } from "zod";
import { parse } from "../commands/parse.ts";
import { connectApi } from "../instance/api.ts";
import { environmentAssignments } from "../servers/env.ts";
import { projectPath } from "../servers/list.ts";
import { authModeOf } from "../settings/auth-mode.ts";
import { CommandError, dim, print, UsageError } from "../terminal/terminal.ts";
import { buildPage, buildSchema, followBuild, outputEnd, printLive, readOutcome } from "./follow-build.ts";
import { argumentsOf } from "./options.ts";

const deployedSchema = z.object({
  project: z.object({ name: z.string(), pathName: z.string(), orgSlug: z.string(), authMode: authModeSchema }),
  build: buildSchema,
  created: z.boolean(),
});

/** The repository that a text names, such as `https://…`, `owner/repository` or `git@host:…`; null: it names none. */
export function gitTextOf(text: string) {
  const parsed = parseSourceText(text);
  return "source" in parsed && parsed.source.kind === "git" ? parsed.source : null;
}

type GitText = NonNullable<ReturnType<typeof gitTextOf>>;

/** `towpath deploy URL`: repository behind a Git URL → project → build → live (SRC-2). Exit status 0 when it is live, 1 when not. */
export async function deployGitUrl(args: string[], source: GitText): Promise<number> {
  const { values, name, body } = parseGitUrl(args, source);
  const api = await connectApi(values);
  const saved = await api.call("POST", "/api/v1/git-urls", deployedSchema, { body });
  const { project } = saved;
  const again = values.rebuild === true && !saved.created;
  const { build, created } = again
    ? await api.call("POST", `${projectPath(name)}/builds`, deployedSchema.omit({ project: true }), {
        body: { reuse: "never" },
      })
    : saved;
  if (!created && build.status === "succeeded") {
    print(`Nothing changed since the last build ${dim(`(${namedVersion(build)})`)}; --rebuild builds anyway.`);
    const outcome = await readOutcome(api, build.id);
    outputEnd(outcome);
    printLive(outcome);
    return 0;
  }
  print(`Deploying ${source.url}${body.branch === undefined ? "" : `, branch ${body.branch}`} as ${project.name}.`);
  const page = buildPage(api, { organization: project.orgSlug, project }, { name: project.name, buildId: build.id });
  return followBuild(api, build.id, page);
}

/** @throws UsageError naming what is wrong */
function parseGitUrl(args: string[], source: GitText) {
  const { values } = parse("deploy", args);
  for (const option of ["preview", "message", "overwrite", "follow"] as const) {
    if (values[option] !== undefined) throw new UsageError(`--${option} is not for Git URLs.`);
  }
  const name = values.name ?? proposedName(source.name);
  const branch = values.branch ?? source.branch ?? undefined;
  const variables = environmentAssignments(values.env ?? []);
  const credential = credentialOf(values["token-env"]);
  const body = {
    name,
    gitUrl: source.url,
    branch,
    credential,
    entrypoint: values.entrypoint,
    arguments: argumentsOf(values.args),
    requirements: values.requirements,
    rootDirectory: values["root-directory"] ?? source.directory ?? undefined,
    authMode: authModeOf(values),
    organization: values.organization,
    ...(variables.length > 0 && { variables }),
  };
  return { values, name, body };
}

/** The repository's own name as a server's name. */
function proposedName(repository: string): string {
  const name = serverNameFrom(repository);
  if (name !== null) return name;
  throw new UsageError("Name the server, with 6 to 32 characters: --name my-server-one");
}

/** A token is never an argument, which other users of the machine can read. */
export function credentialOf(variable: string | undefined) {
  if (variable === undefined) return undefined;
  const token = process.env[variable];
  if (!token) throw new CommandError(`The environment variable ${variable} is empty. Set it to the token.`);
  return { kind: "token" as const, token };
}
