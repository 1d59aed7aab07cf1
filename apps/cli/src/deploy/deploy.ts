import { namedVersion } from "@towpath/core/build/version/schema";
import { authModeSchema } from "@towpath/core/project/schema";
import { z } from "zod";
import { type Api, connectApi } from "../instance/api.ts";
import { projectPath } from "../servers/list.ts";
import { callers } from "../settings/auth-mode.ts";
import { CommandError, dim, print, step } from "../terminal/terminal.ts";
import { buildPage, buildSchema, followBuild, outputEnd, printLive, readOutcome } from "./follow-build.ts";
import { noteVariables } from "./note-variables.ts";
import { type DeployOptions, parseDeployOptions } from "./options.ts";
import { pushDirectory } from "./push-directory.ts";

const targetSchema = z.object({
  organization: z.string(),
  pushUrl: z.url(),
  installationId: z.number(),
  repository: z.object({ id: z.number(), fullName: z.string(), defaultBranch: z.string() }),
  /** Null: there is no server of this name yet. */
  project: z.object({ name: z.string(), pathName: z.string(), authMode: z.string() }).nullable(),
});
type Target = z.infer<typeof targetSchema>;
const projectSchema = z.object({
  project: z.object({ name: z.string(), authMode: authModeSchema }),
  build: buildSchema.nullable(),
});
const startedSchema = z.object({ build: buildSchema, created: z.boolean() });

function saveProject(api: Api, target: Target, settings: Record<string, unknown>) {
  return api.call("POST", "/api/v1/projects", projectSchema, {
    body: {
      ...settings,
      organization: target.organization,
      installationId: target.installationId,
      repositoryFullName: target.repository.fullName,
    },
  });
}

const buildSettings = ({ entrypoint, arguments: words, requirements, rootDirectory }: DeployOptions) => ({
  ...{ entrypoint, arguments: words, requirements, rootDirectory },
});

/** Called before the push, so that the build which the push's webhook starts has these settings. */
async function changeSettings(api: Api, options: DeployOptions, target: Target): Promise<void> {
  const { name, authMode, variables } = options;
  const settings = { ...buildSettings(options), authMode, variables: variables.length > 0 ? variables : undefined };
  if (Object.values(settings).every((each) => each === undefined)) return;
  const { project } = await saveProject(api, target, { name, ...settings });
  if (project.authMode !== target.project?.authMode) {
    print(`Can be called by ${callers[project.authMode]} from now on.`);
  }
}

type Started = z.infer<typeof startedSchema>;

/** Makes at most one commit and one build, which either the push's webhook or this command starts. */
async function beginBuild(api: Api, options: DeployOptions, target: Target): Promise<Started> {
  const { name, directory, authMode, preview, message, variables } = options;
  const { repository, pushUrl, project } = target;
  if (preview !== undefined && !project) {
    throw new CommandError(`${name} does not exist yet. Deploy it to production first: without --preview.`);
  }
  if (project) await changeSettings(api, options, target);
  const branch = preview ?? repository.defaultBranch;
  const remote = { url: pushUrl, key: api.key, branch, base: repository.defaultBranch, message };
  const pushed = await step("Pushing the directory to the forge", () =>
    pushDirectory(directory, { ...remote, overwrite: options.overwrite }),
  );
  if (!project) {
    await noteVariables(pushed.files, options);
    const { build } = await saveProject(api, target, { name, ...buildSettings(options), authMode, variables });
    if (build?.commitSha === pushed.commitSha) return { build, created: true };
  }
  const unchanged = options.rebuild ? "never" : "unless-failed";
  return api.call("POST", `${projectPath(name)}/builds`, startedSchema, {
    body: { branch, commitSha: pushed.commitSha, reuse: pushed.changed ? "always" : unchanged },
  });
}

/** `towpath deploy`: directory → forge → project → build → live. Exit status 0 when it is live, 1 when it is not. */
export async function deploy(args: string[]): Promise<number> {
  const options = parseDeployOptions(args);
  const api = await connectApi(options);
  const { name, organization } = options;
  const target = await api.call("POST", "/api/v1/forge-repositories", targetSchema, { body: { name, organization } });
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
