import { setTimeout as sleep } from "node:timers/promises";
import { type ReplayView, replayViewSchema } from "@towpath/core/delivery/replay/schema";
import { parse } from "../commands/parse.ts";
import { commitText, listDeployments } from "../deployments/deployments.ts";
import { type Api, connectApi } from "../instance/api.ts";
import { bold, CommandError, dim, green, output, plain, print, yellow } from "../terminal/terminal.ts";
import { printQuestions } from "./print-questions.ts";

const pauseMs = 1000;

/**
 * `towpath replay NAME BRANCH`: how the live preview of a branch answered production's calls, and which tools a model chose
 * for the saved questions. Waits for a replay that runs. Exits with 1 where answers or choices are different.
 */
export async function replay(args: string[]): Promise<number> {
  const { values, positionals } = parse("replay", args);
  const [name = "", branch = ""] = positionals;
  const api = await connectApi(values);
  const preview = (await listDeployments(api, name, branch)).find(({ deployment }) => deployment.isLive);
  if (!preview) throw new CommandError(`The preview of ${branch} isn't live.`);
  const path = `/api/v1/builds/${preview.id}/replay`;
  if (values.again) await api.call("POST", path, replayViewSchema);
  const view = await ended(api, path);
  output(view, () => {
    print(`${bold(plain(branch))} ${commitText(preview)}`);
    printReplay(view);
  });
  return view.verdict === "different" ? 1 : 0;
}

async function ended(api: Api, path: string): Promise<ReplayView> {
  for (;;) {
    const view = await api.call("GET", path, replayViewSchema);
    if (view.state !== "waiting" && view.state !== "running") return view;
    await sleep(pauseMs);
  }
}

function printReplay({ state, text, verdict, remarks, report, questions }: ReplayView): void {
  const color = verdict === "same" ? green : verdict === "different" ? yellow : plain;
  print(state === "done" ? color(text) : text);
  for (const remark of remarks) print(plain(remark));
  for (const { tool, replayed, different, differences, moreDifferences } of report?.tools ?? []) {
    if (replayed === 0) continue;
    print(`\n${bold(plain(tool))} ${dim(`${replayed} called, ${different} different`)}`);
    for (const { text: what, was, is, counts } of differences) {
      print(`  ${plain(what)}${counts ? "" : dim(" (not counted)")}`);
      if (was !== null) print(`    ${dim("production")} ${plain(was)}`);
      if (is !== null) print(`    ${dim("preview   ")} ${plain(is)}`);
    }
    if (moreDifferences > 0) print(dim(`  and ${moreDifferences} more`));
  }
  for (const { tool, calls, text: why } of report?.notCompared ?? [])
    print(dim(`\n${plain(tool)}, ${calls} not compared: ${plain(why)}`));
  if (questions) printQuestions(questions);
}
