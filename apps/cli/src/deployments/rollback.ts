import { z } from "zod";
import { parse } from "../commands/parse.ts";
import { connectApi } from "../instance/api.ts";
import { printRolledBack } from "../servers/list.ts";
import { CommandError, dim, green, output, print } from "../terminal/terminal.ts";
import { commitText, type Deployed, deploymentOf, listDeployments } from "./deployments.ts";

const liveSchema = z.object({ url: z.string() });

/** `towpath rollback NAME`: an earlier version is live again, without a build. */
export async function rollback(args: string[]): Promise<number> {
  const { values, positionals } = parse("rollback", args);
  const [name = ""] = positionals;
  const api = await connectApi(values);
  const all = await listDeployments(api, name, values.branch);
  const ofBranch = values.branch === undefined ? all.filter(({ deployment }) => deployment.isProd) : all;
  const target = values.to === undefined ? versionBefore(ofBranch) : deploymentOf(values.to, ofBranch);
  const begun = performance.now();
  const { url } = await api.call("POST", `/api/v1/deployments/${target.deployment.id}/live`, liveSchema);
  const took = `${((performance.now() - begun) / 1000).toFixed(1)} s`;
  const newest = ofBranch.find(({ branch }) => branch.name === target.branch.name) ?? target;
  output({ url, commitSha: target.commitSha }, () => {
    print(`${green("Live:")} ${commitText(target)} ${dim(took)}\n${url}`);
    if (newest.deployment.id !== target.deployment.id) printRolledBack({ name, branch: values.branch }, target, newest);
  });
  return 0;
}

/** The deployment before the live version. @throws CommandError when there is none */
export function versionBefore(newestFirst: readonly Deployed[]): Deployed {
  const live = newestFirst.findIndex(({ deployment }) => deployment.isLive);
  if (live < 0) throw new CommandError("Nothing is live. Say which version you want: --to COMMIT");
  const before = newestFirst[live + 1];
  if (!before) throw new CommandError("There is no earlier version than the one that is live.");
  return before;
}
