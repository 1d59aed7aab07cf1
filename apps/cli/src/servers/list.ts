import { namedVersion, shortCommit, versionText } from "@towpath/core/delivery/build/version/schema";
import { z } from "zod";
import { parse } from "../commands/parse.ts";
import { type Api, connectApi } from "../instance/api.ts";
import { bold, dim, output, plain, print, red, UsageError, yellow } from "../terminal/terminal.ts";
import { ago, localTime } from "../terminal/time.ts";

// Absent in earlier instances.
export const versionSchema = z.looseObject({
  commitSha: z.string(),
  packageVersion: z.string().nullable().default(null),
});
type Version = z.infer<typeof versionSchema>;
const buildSchema = versionSchema.extend({ id: z.string(), status: z.string(), createdAt: z.string() });
const problemSchema = z.looseObject({ message: z.string() }).nullable().default(null);
/** The source of a server; null: an external server, a portal, or an earlier instance. */
const sourceSchema = z
  .discriminatedUnion("kind", [
    z.looseObject({ kind: z.literal("github"), fullName: z.string() }),
    z.looseObject({ kind: z.literal("git"), url: z.string(), problem: problemSchema }),
    z.looseObject({
      kind: z.literal("repository"),
      name: z.string(),
      url: z.string().nullable().default(null),
      problem: problemSchema,
    }),
    z.looseObject({ kind: z.literal("package"), name: z.string() }),
  ])
  .nullable()
  .default(null)
  // A kind of a newer instance.
  .catch(null);
const sourcedSchema = z.looseObject({ kind: z.string().default("hosted"), source: sourceSchema });
const itemSchema = sourcedSchema.extend({
  name: z.string(),
  url: z.string(),
  isLive: z.boolean().default(false),
  live: z.looseObject({ buildId: z.string() }).nullable().default(null),
  latestBuild: z.looseObject({ id: z.string(), status: z.string(), createdAt: z.string() }).nullable(),
  rolledBackTo: versionSchema.nullable().default(null),
  waitingForkPullRequests: z.number().default(0),
});

/** `towpath list` */
export async function list(args: string[]): Promise<number> {
  const { values } = parse("list", args);
  const api = await connectApi(values);
  const query =
    values.organization === undefined ? "" : `?${new URLSearchParams({ organization: values.organization })}`;
  const { data } = await api.call("GET", `/api/v1/projects${query}`, z.object({ data: z.array(itemSchema) }));
  output(
    data.map(({ name, url, isLive, latestBuild, rolledBackTo, waitingForkPullRequests, source }) => ({
      name,
      url,
      isLive,
      latestBuild: latestBuild?.status ?? null,
      rolledBackTo,
      waitingForkPullRequests,
      source,
    })),
    () => {
      if (data.length === 0) print("There are no servers yet. Deploy one: towpath deploy DIR --name NAME");
      const width = Math.max(0, ...data.map(({ name }) => name.length));
      const stateWidth = Math.max(0, ...data.map((server) => stateText(server).length));
      const urlWidth = Math.max(0, ...data.map(({ url }) => url.length));
      for (const { name, url, rolledBackTo, waitingForkPullRequests: waiting, ...server } of data) {
        const state = stateText(server).padEnd(stateWidth);
        const source = dim(sourceText(server));
        print(
          `${bold(name.padEnd(width))}  ${state.includes("failed") ? red(state) : state}  ${url.padEnd(urlWidth)}  ${source}`,
        );
        const problem = problemText(server);
        if (problem !== null) print(`${" ".repeat(width)}  ${yellow(problem)}`);
        if (rolledBackTo) print(`${" ".repeat(width)}  ${yellow(`Rolled back to ${versionText(rolledBackTo)}`)}`);
        if (waiting > 0) print(`${" ".repeat(width)}  ${waitingText(waiting)}: towpath approve ${name}`);
      }
    },
  );
  return 0;
}

/** Whether it is live, and the newest build if it runs or failed. */
function stateText({ isLive, live, latestBuild }: Pick<z.infer<typeof itemSchema>, "isLive" | "live" | "latestBuild">) {
  const { id, status } = latestBuild ?? { id: null, status: null };
  const endedWell = status === null || status === "succeeded" || status === "canceled" || id === live?.buildId;
  if (isLive) return endedWell ? "live" : `live, newest build ${status}`;
  return status === null ? "no build" : `not live, build ${status}`;
}

/** A server's source, in the syntax of `deploy` where that has one. */
function sourceText({ kind, source }: z.infer<typeof sourcedSchema>): string {
  if (source === null) return kind === "portal" ? "portal" : kind === "external" ? "runs elsewhere" : "";
  if (source.kind === "github") return source.fullName;
  if (source.kind === "repository") return source.url ?? source.name;
  return source.kind === "git" ? source.url : `pypi:${source.name}`;
}

/** Why new commits can't be read, and what to do. */
const problemText = ({ source }: z.infer<typeof sourcedSchema>): string | null =>
  source?.kind === "git" || source?.kind === "repository" ? (source.problem?.message ?? null) : null;

const waitingText = (count: number) =>
  yellow(
    count === 1
      ? "1 pull request from a fork waits for approval"
      : `${count} pull requests from forks wait for approval`,
  );

const whenText = (time: string, of: Version) => `${ago(time)} ${dim(`(${localTime(time)}, ${namedVersion(of)})`)}`;
const statusText = (status: string) => (status === "failed" ? red(status) : status);

const statusSchema = z.looseObject({
  live: versionSchema
    .extend({
      url: z.string(),
      since: z.string(),
      tools: z.number().nullable(),
      deploymentId: z.string(),
      isRolledBack: z.boolean().default(false),
      rolledBackFrom: versionSchema.nullable().default(null),
    })
    .nullable(),
  latestBuild: buildSchema.extend({ problem: z.string().nullable() }).nullable(),
  instance: z.looseObject({ state: z.string(), memoryBytes: z.number().nullable() }).nullable(),
});

/** @throws CommandError for a text that can't be a server's name or id, such as a path */
export function projectPath(name: string): string {
  if (/^[\w-]+$/.test(name)) return `/api/v1/projects/${name}`;
  throw new UsageError(`${JSON.stringify(name)} can't be the name of a server. \`towpath list\` shows yours.`);
}

const pullSchema = z.object({
  number: z.number(),
  url: z.string().nullable().default(null),
  title: z.string(),
  author: z.string(),
  repository: z.string().nullable(),
  commitSha: z.string(),
  state: z.enum(["waiting", "approved", "declined"]),
});
export type ForkPullRequest = z.infer<typeof pullSchema>;

export const readForkPullRequests = async (api: Api, name: string): Promise<readonly ForkPullRequest[]> =>
  (await api.call("GET", `${projectPath(name)}/fork-pull-requests`, z.object({ data: z.array(pullSchema) }))).data;

export const readStatus = (api: Api, name: string) => api.call("GET", `${projectPath(name)}/status`, statusSchema);

/**
 * After a rollback: the live version, the next push, and the command to return, unless the newest version was removed.
 */
export function printRolledBack(
  { name, branch }: { readonly name: string; readonly branch?: string | undefined },
  live: Pick<Version, "commitSha" | "packageVersion">,
  newest: Pick<Version, "commitSha" | "packageVersion"> | null,
): void {
  const next = live.packageVersion === null ? "push" : "version that is deployed";
  print(yellow(`  Rolled back to ${versionText(live)}. The next ${next} goes live as usual.`));
  const ofBranch = branch === undefined ? "" : ` --branch ${branch}`;
  if (newest) print(`  Make newest live: towpath rollback ${name} --to ${versionText(newest)}${ofBranch}`);
}

/** `towpath status NAME` */
export async function status(args: string[]): Promise<number> {
  const { values, positionals } = parse("status", args);
  const [name = ""] = positionals;
  const api = await connectApi(values);
  const { live, latestBuild, instance } = await readStatus(api, name);
  const server = await api.call("GET", projectPath(name), sourcedSchema);
  const waiting = (await readForkPullRequests(api, name)).filter(({ state }) => state === "waiting");
  const { source } = server;
  const problem = problemText(server);
  output({ name, source, live, latestBuild, instance, waitingForkPullRequests: waiting }, () => {
    print(bold(name));
    const lines = {
      source: sourceText(server) || dim("not known"),
      ...(problem !== null && { "": yellow(problem) }),
      address: live?.url ?? dim("nothing is live"),
      "live since": live ? whenText(live.since, live) : dim("–"),
      tools: live?.tools?.toString() ?? dim("not known"),
      server: instance?.state ?? dim("not started"),
      "newest build": latestBuild
        ? `${statusText(latestBuild.status)} ${whenText(latestBuild.createdAt, latestBuild)}`
        : dim("none"),
      ...(latestBuild?.problem && { problem: latestBuild.problem }),
    };
    for (const [label, text] of Object.entries(lines)) print(`  ${label.padEnd(14)}${text}`);
    if (live?.isRolledBack) printRolledBack({ name }, live, live.rolledBackFrom);
    if (waiting.length > 0) print(`  ${waitingText(waiting.length)}. Read the commit, then approve or decline it:`);
    for (const { number, commitSha, title, url } of waiting) {
      print(`    towpath approve ${name} ${number} ${shortCommit(commitSha)}`);
      print(dim(`      ${plain(title).replaceAll(/\s+/g, " ")}${url === null ? "" : ` (${plain(url)})`}`));
    }
  });
  return 0;
}
