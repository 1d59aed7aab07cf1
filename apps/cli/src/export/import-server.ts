import { join } from "node:path";
import type { ExportDocument } from "@towpath/core/delivery/export/schema";
import { fileNames } from "@towpath/export";
import { z } from "zod";
import { parse } from "../commands/parse.ts";
import { credentialOf } from "../deploy/deploy-git-url.ts";
import { buildPage, buildSchema, followBuild } from "../deploy/follow-build.ts";
import { withBundle } from "../deploy/push-bundle.ts";
import { pushDirectory, type Remote } from "../deploy/push-directory.ts";
import { type Api, connectApi } from "../instance/api.ts";
import { environmentAssignments } from "../servers/env.ts";
import { projectPath } from "../servers/list.ts";
import { CommandError, print, step } from "../terminal/terminal.ts";
import { type GivenExport, withExport } from "./given-export.ts";
import { variablesToSet } from "./variables-to-set.ts";

const deployedSchema = z.object({
  project: z.object({ name: z.string(), pathName: z.string(), orgSlug: z.string() }),
  build: buildSchema,
});
const serversSchema = z.object({ data: z.array(z.object({ name: z.string() })) });
type Deployed = z.infer<typeof deployedSchema>;

const targetSchema = z.object({
  organization: z.string(),
  repository: z.object({ name: z.string(), defaultBranch: z.string() }),
});

/** What every way to create a server takes. */
type Creation = {
  readonly name: string;
  readonly organization: string | undefined;
  readonly variables: readonly unknown[];
  readonly tokenVariable: string | undefined;
  /** Who may call it once it is live; absent: the defaults. */
  readonly access: InitialAccess | undefined;
};
type InitialAccess = Omit<NonNullable<ExportDocument["access"]>, "apiKeys"> & { readonly apiKeys: "all" | readonly [] };

/** `towpath import SOURCE`: an export → server → build → live (OPS-8). Exit status 0 when it is live, 1 when it is not. */
export async function importServer(args: string[]): Promise<number> {
  const { values, positionals } = parse("import", args);
  const [given = ""] = positionals;
  const passed = environmentAssignments(values.env ?? []);
  return withExport(given, async (opened) => {
    const { document } = opened;
    const name = values.name ?? document.name;
    const variables = await variablesToSet(document.variables, opened.values, passed);
    const api = await connectApi(values);
    const { organization, "token-env": tokenVariable } = values;
    await requireFreeName(api, name, organization);
    const access = document.access === null ? undefined : accessHere(document.access);
    const { project, build } = await create(api, opened, { name, organization, variables, tokenVariable, access });
    await finish(api, build.id, name, document);
    print(`Importing ${document.name} as ${project.name}.`);
    if (access?.apiKeys.length === 0) print("No API key may call it yet: choose them on its page Access.");
    const page = buildPage(api, { organization: project.orgSlug, project }, { name, buildId: build.id });
    return followBuild(api, build.id, page);
  });
}

/** A name that another organization has is refused when the server is created, before anything else is made. */
async function requireFreeName(api: Api, name: string, organization: string | undefined): Promise<void> {
  const query = organization === undefined ? "" : `?${new URLSearchParams({ organization })}`;
  const { data } = await api.call("GET", `/api/v1/projects${query}`, serversSchema);
  const taken = data.find((each) => each.name.toLowerCase() === name.toLowerCase());
  if (taken === undefined) return;
  throw new CommandError(
    `There is a server ${taken.name} already. Choose another name: --name NAME. Nothing was made.`,
  );
}

function create(api: Api, opened: GivenExport, creation: Creation): Promise<Deployed> {
  const { source } = opened.document;
  switch (source.kind) {
    case "package":
      return createFromPackage(api, opened.document, source, creation);
    case "git":
      return createFromUrl(api, opened.document, source, creation);
    case "repository":
    case "github":
      return createFromFiles(api, opened, source, creation);
  }
}

type SourceOf<Kind> = Extract<ExportDocument["source"], { readonly kind: Kind }>;

/** Settings that the first build must have. */
function buildSettings({ settings }: ExportDocument) {
  const { entrypoint, arguments: argv, requirements, rootDirectory, authMode, capturePayloads } = settings;
  return { entrypoint, arguments: argv, requirements, rootDirectory, authMode, capturePayloads };
}

function createFromPackage(
  api: Api,
  document: ExportDocument,
  { name: packageName, version, follows: follow }: SourceOf<"package">,
  { name, organization, variables, access }: Creation,
): Promise<Deployed> {
  const { requirements: _, rootDirectory: __, ...settings } = buildSettings(document);
  const body = { ...settings, name, organization, packageName, version, follow, variables, access };
  return api.call("POST", "/api/v1/packages", deployedSchema, { body });
}

async function createFromUrl(
  api: Api,
  document: ExportDocument,
  { url: gitUrl, branch, commit }: SourceOf<"git">,
  { name, organization, variables, tokenVariable, access }: Creation,
): Promise<Deployed> {
  const credential = credentialOf(tokenVariable);
  const body = { ...buildSettings(document), name, organization, gitUrl, branch, credential, variables, access };
  const deployed = await api.call("POST", "/api/v1/git-urls", deployedSchema, { body });
  if (deployed.build.commitSha !== commit)
    print(`${gitUrl} has newer commits than the export: the newest of ${branch} is built.`);
  return deployed;
}

/** The commit with its history, if the export has it; else its files as the first commit of a new repository. */
function createFromFiles(
  api: Api,
  { document, directory }: GivenExport,
  source: SourceOf<"repository" | "github">,
  { name, organization: given, variables, access }: Creation,
): Promise<Deployed> {
  const create = async (pushHistory: ((remote: Remote) => Promise<void>) | null) => {
    const body = { name, organization: given };
    const { organization, repository } = await api.call("POST", "/api/v1/deploy-targets", targetSchema, { body });
    const url = `${api.url}/git/${organization}/${repository.name}.git`;
    const remote = { url, password: api.token, branch: repository.defaultBranch, overwrite: false };
    const settings = buildSettings(document);
    const deploy = (changes: Partial<typeof settings>) =>
      api.call("POST", `/api/v1/repositories/${repository.name}/deploy`, deployedSchema, {
        body: { ...settings, ...changes, name, organization, variables, access },
      });
    if (pushHistory !== null) {
      await step("Pushing the repository with its history", () => pushHistory(remote));
      return deploy({});
    }
    if (source.kind === "github")
      print(
        `It was built from ${source.fullName}, and gets a repository of this instance. Settings → Source connects GitHub.`,
      );
    const message = `Import ${document.name} as of ${source.commit}`;
    const files = join(directory, fileNames.source);
    await step("Pushing the code", () => pushDirectory(files, { ...remote, message }));
    // The code was exported without what is around its root directory.
    return deploy({ rootDirectory: null });
  };
  const hasHistory = source.kind === "repository" && source.hasHistory;
  return hasHistory ? withBundle(join(directory, fileNames.history), source.commit, create) : create(null);
}

/**
 * What a new server can't be created with. If it is refused, nothing goes live.
 *
 * @throws CommandError
 */
async function finish(api: Api, buildId: string, name: string, { settings }: ExportDocument): Promise<void> {
  const { description, watchPaths, failOnBreakingChanges, isPublic, errorsPerHour, ...more } = settings;
  const { identityAssertion, sleepingLists, keepsData, callerInstances, callerProbe } = more;
  const { keepResultsMinutes, unattendedMinutes, replay, checkQuestions } = more;
  const calls = { keepResultsMinutes, unattendedMinutes, replay, checkQuestions };
  const callers = { identityAssertion, sleepingLists, errorsPerHour, callerInstances, callerProbe, ...calls };
  const later = { description, failOnBreakingChanges, isPublic, keepsData, ...callers };
  // Relative to a repository that only a history brings along.
  const body = settings.rootDirectory === null ? { ...later, watchPaths } : later;
  try {
    await api.call("PATCH", projectPath(name), z.looseObject({}), { body });
  } catch (error) {
    await api.call("POST", `/api/v1/builds/${buildId}/cancel`, z.looseObject({})).catch(() => null);
    if (!(error instanceof CommandError)) throw error;
    throw new CommandError(
      `${name} was made, but not all of its settings, so its build was canceled: ${error.message}\nDelete it and import it again, or deploy it as it is: towpath deploy ${name}`,
    );
  }
}

/** Keys of the other instance aren't known here: of chosen ones, none may call until an admin chooses some again. */
function accessHere({ roles, apiKeys, ...access }: NonNullable<ExportDocument["access"]>): InitialAccess {
  // A policy must let somebody call.
  if (apiKeys === "all") return { ...access, roles, apiKeys };
  return { ...access, roles: roles.length > 0 ? roles : ["owner"], apiKeys: [] };
}
