import { statusHosts } from "@towpath/core/sources/source/schema";
import { z } from "zod";
import { parse } from "../commands/parse.ts";
import { connectApi } from "../instance/api.ts";
import { projectPath } from "../servers/list.ts";
import { didYouMean } from "../terminal/did-you-mean.ts";
import { ask, readInput } from "../terminal/input.ts";
import { orList } from "../terminal/or-list.ts";
import { bold, dim, output, print, UsageError, yellow } from "../terminal/terminal.ts";
import { ago } from "../terminal/time.ts";

const statusSchema = z.object({ kind: z.string(), postedAt: z.string().nullable(), problem: z.string().nullable() });
const sourceSchema = z.object({ kind: z.string(), status: statusSchema.nullish() });
type Source = z.infer<typeof sourceSchema>;

const hostNames: Readonly<Record<string, string>> = {
  gitlab: "GitLab",
  gitea: "Gitea or Forgejo",
  bitbucket: "Bitbucket",
  github: "GitHub",
};
const hostList = orList(statusHosts);

const actions = ["show", "set", "remove"];

/** `towpath build-states NAME [show | set HOST | remove]`: whether the Git host shows how builds ended (SRC-2). */
export async function buildStates(args: string[]): Promise<number> {
  const { values, positionals } = parse("build-states", args);
  const [name = "", action = "show", host] = positionals;
  if (!actions.includes(action))
    throw new UsageError(`${action} is not show, set or remove.${didYouMean(action, actions)}`);
  if (action !== "set" && host !== undefined)
    throw new UsageError(`${host} is too much for ${action}. See towpath help build-states.`);
  const status = action === "set" ? { kind: hostOf(host), token: await readToken() } : null;
  const api = await connectApi(values);
  const path = `${projectPath(name)}/source`;
  const source =
    action === "show"
      ? (await api.call("GET", path, z.object({ source: sourceSchema }))).source
      : await api.call("PATCH", path, sourceSchema, { body: { status } });
  output(source.status ?? null, () => printStates(source));
  return 0;
}

function hostOf(word: string | undefined): string {
  if (word === undefined) throw new UsageError(`Name the kind of Git host: ${hostList}.`);
  if (statusHosts.some((each) => each === word)) return word;
  throw new UsageError(`${word} is not ${hostList}.${didYouMean(word, statusHosts)}`);
}

/** Never an argument, which other users of the machine can read. */
async function readToken(): Promise<string> {
  const given = process.stdin.isTTY ? await ask("Token for build states: ", { hidden: true }) : await readInput();
  if (given.trim() !== "") return given.trim();
  throw new UsageError("Stdin has no token: towpath build-states NAME set HOST < FILE. Nothing was set.");
}

/** Why a kind of source needs no token. */
const without: Readonly<Record<string, string>> = {
  github: "The GitHub App posts build states, without a token.",
  repository: "The repository is one of this instance: build states are on the server's page.",
  package: "A package has no Git host that takes build states.",
};

function printStates({ kind, status }: Source): void {
  if (!status) {
    print(without[kind] ?? `Build states are not posted. ${dim("towpath build-states NAME set HOST adds a token.")}`);
    return;
  }
  const last = status.postedAt === null ? "none yet" : `the last one ${ago(status.postedAt)}`;
  print(`Build states are posted to ${hostNames[status.kind] ?? status.kind}: ${last}.`);
  if (status.problem === null) return;
  print(`${yellow("!")} ${bold("The host refused the newest build state")}\n  ${status.problem}`);
}
