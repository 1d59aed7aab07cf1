import { namedVersion } from "@towpath/core/delivery/build/version/schema";
import { authModeSchema } from "@towpath/core/projects/project/schema";
import { z } from "zod";
import { type Api, connectApi } from "../instance/api.ts";
import { setVariables } from "../servers/env.ts";
import { projectPath } from "../servers/list.ts";
import { callers } from "../settings/auth-mode.ts";
import { CommandError, dim, print, step } from "../terminal/terminal.ts";
import { buildPage, buildSchema, followBuild, outputEnd, printLive, readOutcome } from "./follow-build.ts";
import { type DeployOptions, parseDeployOptions } from "./options.ts";
import { printLeftOut } from "./print-left-out.ts";
import { printMissingVariables } from "./print-missing-variables.ts";
import { pushDirectory } from "./push-directory.ts";

const targetSchema = z.object({
  organization: z.string(),
  /** Of the instance; the terminal made it. */
  repository: z.object({ name: z.string(), defaultBranch: z.string() }),
  /** Null: no server has this name yet. */
  project: z.object({ name: z.string(), pathName: z.string(), authMode: z.string() }).nullable(),
});
type Target = z.infer<typeof targetSchema>;
const changedSchema = z.object({ name: z.string(), authMode: authModeSchema });
const startedSchema = z.object({ build: buildSchema, created: z.boolean() });

const buildSettings = ({ entrypoint, arguments: argv, requirements, rootDirectory }: DeployOptions) => ({
  entrypoint,
  arguments: argv,
  requirements,
  rootDirectory,
});

/** Before the push, so that its build has these settings. */
async function changeSettings(api: Api, options: DeployOptions, target: Target): Promise<void> {
  const { name, authMode, variables } = options;
  const { entrypoint, ...others } = buildSettings(options);
  // Empty: each build finds it.
  const settings = { ...others, entrypoint: entrypoint === "" ? null : entrypoint, authMode };
  if (variables.length > 0) await setVariables(api, name, variables);
  if (Object.values(settings).every((each) => each === undefined)) return;
  const project = await api.call("PATCH", projectPath(name), changedSchema, { body: settings });
  if (project.authMode !== target.project?.authMode) {
    print(`Can be called by ${callers[project.authMode]} from now on.`);
  }
}

type Started = z.infer<typeof startedSchema>;

/** Makes at most one commit and one build, started by the push or by this command. */
async function beginBuild(api: Api, options: DeployOptions, target: Target): Promise<Started> {
  const { name, directory, authMode, preview, message, variables } = options;
  const { organization, repository, project } = target;
  if (preview !== undefined && !project) {
    throw new CommandError(`${name} does not exist yet. Deploy it to production first: without --preview.`);
  }
  if (project) await changeSettings(api, options, target);
  const branch = preview ?? repository.defaultBranch;
  const url = `${api.url}/git/${organization}/${repository.name}.git`;
  const remote = { url, password: api.token, branch, base: repository.defaultBranch, message };
  const pushed = await step("Pushing the directory to its repository", () =>
    pushDirectory(directory, { ...remote, overwrite: options.overwrite }),
  );
  printLeftOut(pushed.leftOut, name);
  if (!project) {
    await printMissingVariables(pushed.files, options);
    const body = { name, organization, ...buildSettings(options), authMode, variables };
    const path = `/api/v1/repositories/${repository.name}/deploy`;
    const { build } = await api.call("POST", path, startedSchema, { body });
    if (build.commitSha === pushed.commitSha) return { build, created: true };
  }
  const unchanged = options.rebuild ? "never" : "unless-failed";
  return api.call("POST", `${projectPath(name)}/builds`, startedSchema, {
    body: { branch, commitSha: pushed.commitSha, reuse: pushed.changed ? "always" : unchanged },
  });
}

/** `towpath deploy`: directory → repository → project → build → live. Exit status 0 when it is live, 1 when it is not. */
export async function deploy(args: string[]): Promise<number> {
  const options = parseDeployOptions(args);
  const api = await connectApi(options);
  const { name, organization } = options;
  const target = await api.call("POST", "/api/v1/deploy-targets", targetSchema, { body: { name, organization } });
  const { build, created } = await beginBuild(api, options, target);
  if (!created && build.status === "succeeded") {
    const outcome = await readOutcome(api, build.id);
    outputEnd(outcome);
    print(`Nothing changed since the last build ${dim(`(${namedVersion(build)})`)}; --rebuild builds anyway.`);
    printLive(outcome);
    return 0;
  }
  return followBuild(api, build.id, buildPage(api, target, { name, buildId: build.id }));
}
