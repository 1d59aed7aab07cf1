import { shortCommit } from "@towpath/core/delivery/build/version/schema";
import { z } from "zod";
import { parse } from "../commands/parse.ts";
import { type Api, connectApi } from "../instance/api.ts";
import { type ForkPullRequest as Pull, projectPath, readForkPullRequests } from "../servers/list.ts";
import { CommandError, dim, output, print, UsageError } from "../terminal/terminal.ts";

const decidedSchema = z.object({ buildId: z.string().nullable() });

/**
 * `towpath approve NAME`: lists pull requests from forks. `towpath approve NAME NUMBER COMMIT [--decline]`: decides about
 * the commit that was read, given by at least the first seven digits of its id.
 */
export async function approve(args: string[]): Promise<number> {
  const { values, positionals } = parse("approve", args);
  const [name = "", number, commit] = positionals;
  if ((number === undefined) !== (commit === undefined)) {
    throw new UsageError("Name a server, a pull request and its commit: towpath approve NAME NUMBER COMMIT");
  }
  if (values.decline && number === undefined)
    throw new UsageError("Name what to decline: towpath approve NAME NUMBER COMMIT --decline");
  const api = await connectApi(values);
  const path = `${projectPath(name)}/fork-pull-requests`;
  const data = await readForkPullRequests(api, name);
  if (number === undefined || commit === undefined) return list(data);
  const pull = chosenPull(data, number, commit);
  return decide(api, `${path}/${pull.number}`, pull, values.decline === true);
}

function list(pulls: readonly Pull[]): number {
  output(pulls, () => printPulls(pulls));
  return 0;
}

function printPulls(pulls: readonly Pull[]): void {
  if (pulls.length === 0) print("No pull request from a fork is open.");
  const labels = { waiting: "waits for approval", approved: "approved", declined: "declined" };
  for (const { number, title, author, repository, commitSha, state } of pulls) {
    print(`#${number} ${shortCommit(commitSha)} ${labels[state]}: ${oneLine(title)}`);
    print(dim(`    by ${oneLine(author)} in ${oneLine(repository ?? "a deleted fork")}`));
  }
}

/** Titles are strangers' text: no control characters reach the terminal. */
const oneLine = (text: string) => text.replaceAll(/\p{C}+/gu, " ");

/** @throws CommandError for a pull request that isn't open, and for a commit that isn't its newest */
export function chosenPull(pulls: readonly Pull[], number: string, commit: string): Pull {
  const pull = pulls.find((each) => String(each.number) === number.replace(/^#/, ""));
  if (!pull) throw new CommandError(`No open pull request from a fork has the number ${number}.`);
  if (!/^[0-9a-f]{7,64}$/.test(commit)) {
    throw new UsageError(`${commit} is not a commit id. Pass at least its first seven characters.`);
  }
  if (!pull.commitSha.startsWith(commit)) {
    throw new CommandError(
      `The newest commit of #${pull.number} is ${shortCommit(pull.commitSha)}, not ${commit}. Read its changes first.`,
    );
  }
  return pull;
}

async function decide(api: Api, path: string, pull: Pull, declines: boolean): Promise<number> {
  const body = { decision: declines ? "decline" : "approve", commitSha: pull.commitSha };
  const { buildId } = await api.call("POST", path, decidedSchema, { body });
  output({ number: pull.number, commitSha: pull.commitSha, decision: body.decision, buildId }, () => {
    print(`${declines ? "Declined" : "Approved"} ${shortCommit(pull.commitSha)} of #${pull.number}`);
    if (buildId !== null) print(dim("It is built as a preview, without variables."));
  });
  return 0;
}
