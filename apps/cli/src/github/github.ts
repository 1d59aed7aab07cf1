import { z } from "zod";
import { parse } from "../commands/parse.ts";
import { type Api, openApi } from "../instance/api.ts";
import { findDataDirectory } from "../instance/instance.ts";
import { showPage } from "../servers/open.ts";
import { didYouMean } from "../terminal/did-you-mean.ts";
import { ask, readInput } from "../terminal/input.ts";
import { bold, CommandError, dim, green, output, print, UsageError, yellow } from "../terminal/terminal.ts";
import { ago } from "../terminal/time.ts";

const appSchema = z.looseObject({
  id: z.string().nullable(),
  host: z.string(),
  slug: z.string(),
  owner: z.string().nullable(),
  createdAt: z.string().nullable(),
  accounts: z.array(z.string()),
  suspended: z.array(z.string()),
  servers: z.array(z.string()),
});
const checkedSchema = appSchema.extend({
  problems: z.array(z.object({ title: z.string(), detail: z.string(), url: z.string().nullable() })),
  notes: z.array(z.string()),
});
type App = z.infer<typeof appSchema>;
export type CheckedApp = z.infer<typeof checkedSchema>;

const appsPath = "/api/v1/github-apps";
export const listApps = (api: Api) => api.call("GET", appsPath, z.array(checkedSchema));

const actions = ["list", "connect", "rotate", "remove"] as const;
const secrets = ["private-key", "client-secret", "webhook-secret"] as const;
type Secret = (typeof secrets)[number];

/** `towpath github [list | connect | rotate APP SECRET | remove APP]`: the GitHub Apps of the instance beside the terminal. */
export async function github(args: string[]): Promise<number> {
  const { values, positionals } = parse("github", args);
  const [given = "list", name, secret] = positionals;
  const action = actions.find((each) => each === given);
  if (!action) throw new UsageError(`${given} is not list, connect, rotate or remove.${didYouMean(given, actions)}`);
  if (values.yes !== undefined && action !== "remove") throw new UsageError("--yes is for remove only.");
  const takes = { list: 1, connect: 1, rotate: 3, remove: 2 }[action];
  const extra = positionals[takes];
  if (extra !== undefined) throw new UsageError(`${extra} is too much for ${action}. See towpath help github.`);
  const api = () => openApi(findDataDirectory(values["data-dir"]));
  if (action === "list") return list(api());
  if (action === "connect") return connect(api());
  if (name === undefined)
    throw new UsageError(`Name the App: towpath github ${action} APP. towpath github lists them.`);
  if (action === "remove") return remove(api(), name, values.yes);
  return rotate(api, name, secretOf(secret));
}

async function list(api: Api): Promise<number> {
  const apps = await listApps(api);
  output(apps, () => {
    if (apps.length === 0) print("This instance has no GitHub App. towpath github connect makes one.");
    for (const [at, app] of apps.entries()) printApp(app, at > 0);
  });
  return 0;
}

function printApp(app: CheckedApp, isNext: boolean): void {
  const { slug, host, owner, createdAt, accounts, suspended, servers, problems, notes } = app;
  const since = createdAt === null ? "set by the environment" : `connected ${ago(createdAt)}`;
  const state = problems.length === 0 ? green("works") : yellow("needs attention");
  print(
    `${isNext ? "\n" : ""}${bold(slug)}  ${state}  ${dim([host, owner && `owned by ${owner}`, since].filter(Boolean).join(" · "))}`,
  );
  const named = accounts.map((each) => (suspended.includes(each) ? `${each} (has suspended the App)` : each));
  print(`  accounts  ${named.join(", ") || dim("none: connect one in Settings → GitHub of an organization")}`);
  print(`  servers   ${servers.join(", ") || dim("none")}`);
  for (const { title, detail, url } of problems) {
    print(`  ${yellow("!")} ${bold(title)}\n    ${bold("What to do:")} ${detail}${url === null ? "" : `\n    ${url}`}`);
  }
  for (const text of notes) print(`  ${dim(text)}`);
}

/** GitHub sends an App's keys only to a browser. */
async function connect(api: Api): Promise<number> {
  const page = await api.call(
    "GET",
    `${appsPath}/connect-page`,
    z.object({ url: z.string(), organization: z.string() }),
  );
  output(page, () => {
    showPage(page.url);
    print(
      dim(`Sign in there as an owner of ${page.organization}, choose where the App is made, and confirm at GitHub.`),
    );
  });
  return 0;
}

async function remove(api: Api, name: string, yes: string | undefined): Promise<number> {
  const { id, slug, servers } = stored(await listApps(api), name);
  if (yes === undefined && !process.stdin.isTTY) throw new UsageError(`Repeat the name: --yes ${slug}`);
  if (yes === undefined && servers.length > 0) {
    print(`These servers lose their source: ${servers.join(", ")}. They stay live, but pushes won't start builds.`);
  }
  const typed = yes ?? (await ask(`Its keys are deleted here. Type ${slug} to remove it: `)).trim();
  if (typed !== slug) throw new CommandError(`${typed || "Nothing"} is not ${slug}. Nothing was removed.`);
  await api.call("DELETE", `${appsPath}/${id}?confirm=${encodeURIComponent(slug)}`, z.looseObject({}));
  output({ removed: slug }, () => print(`Removed ${slug}. It stays at its host until its owner deletes it there.`));
  return 0;
}

function secretOf(word: string | undefined): Secret {
  const secret = secrets.find((each) => each === word);
  if (secret) return secret;
  const choice = "private-key, client-secret or webhook-secret";
  if (word === undefined) throw new UsageError(`Name what to replace: ${choice}.`);
  throw new UsageError(`${word} is not ${choice}.${didYouMean(word, secrets)}`);
}

async function rotate(open: () => Api, name: string, secret: Secret): Promise<number> {
  const body = secret === "webhook-secret" ? null : await newSecret(secret);
  const api = open();
  const { id } = stored(await listApps(api), name);
  const path = `${appsPath}/${id}`;
  const changed =
    body === null
      ? await api.call("POST", `${path}/webhook-secret`, appSchema)
      : await api.call("PATCH", path, appSchema, { body });
  output(changed, () => {
    print(`${green("✓")} The ${secret.replace("-", " ")} of ${changed.slug} was replaced.`);
    if (body !== null) print(dim("Delete the earlier one in the App's settings at its host."));
  });
  return 0;
}

/** A secret made at GitHub. Never an argument, which other users of the machine can read. */
async function newSecret(secret: Exclude<Secret, "webhook-secret">): Promise<Readonly<Record<string, string>>> {
  const command = `towpath github rotate APP ${secret} < FILE`;
  const isKey = secret === "private-key";
  if (isKey && process.stdin.isTTY) throw new UsageError(`Pass the whole .pem file on stdin: ${command}`);
  const given = process.stdin.isTTY ? await ask("Client secret: ", { hidden: true }) : await readInput();
  if (given.trim() === "") throw new UsageError(`Stdin has no ${secret.replace("-", " ")}: ${command}`);
  return { [isKey ? "privateKey" : "clientSecret"]: given.trim() };
}

/** The App with this name or id. @throws CommandError if it doesn't exist, or can't be changed here */
function stored(apps: readonly App[], name: string): App & { readonly id: string } {
  const found = apps.filter(({ slug, id }) => slug === name || id === name);
  const [app, other] = found;
  if (app === undefined) {
    const known = apps.map(({ slug }) => slug);
    throw new CommandError(`There is no GitHub App ${name}.${didYouMean(name, known)} towpath github lists them.`);
  }
  if (other !== undefined) {
    const ids = found.map(({ id, host }) => `  ${id ?? "set by the environment"}  ${host}`);
    throw new CommandError(`Several hosts have an App ${name}. Name it by its id:\n${ids.join("\n")}`);
  }
  if (app.id !== null) return { ...app, id: app.id };
  throw new CommandError(
    `${app.slug} is set by the environment. Change GITHUB_APP_ID and the settings beside it there, then restart.`,
  );
}
