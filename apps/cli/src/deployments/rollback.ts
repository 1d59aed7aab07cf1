import { parseArgs } from "node:util";
import { z } from "zod";
import { openApi } from "../instance/api.ts";
import { resolveDataDirectory } from "../instance/instance.ts";
import { CommandError, dim, green, print } from "../terminal/terminal.ts";
import { commitText, type Deployed, deploymentOf, listDeployments } from "./deployments.ts";

const liveSchema = z.object({ url: z.string() });

/** `towpath rollback NAME`: an earlier version is live again, without a build. */
export async function rollback(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { to: { type: "string" }, branch: { type: "string" }, "data-dir": { type: "string" } },
  });
  const [name, ...more] = positionals;
  if (!name || more.length > 0) throw new CommandError("Name one server: ./towpath rollback NAME [--to COMMIT]");
  const api = openApi(resolveDataDirectory(values["data-dir"]));
  const all = await listDeployments(api, name, values.branch);
  const ofBranch = values.branch === undefined ? all.filter(({ deployment }) => deployment.isProd) : all;
  const target = values.to === undefined ? versionBefore(ofBranch) : deploymentOf(values.to, ofBranch);
  const begun = performance.now();
  const { url } = await api.call("POST", `/api/v1/deployments/${target.deployment.id}/live`, liveSchema);
  const took = `${((performance.now() - begun) / 1000).toFixed(1)} s`;
  print(`${green("Live:")} ${commitText(target)} ${dim(took)}\n${url}`);
  return 0;
}

/** What was deployed before the version that is live. @throws CommandError when there is none */
export function versionBefore(newestFirst: readonly Deployed[]): Deployed {
  const live = newestFirst.findIndex(({ deployment }) => deployment.isLive);
  if (live < 0) throw new CommandError("Nothing is live. Say which version you want: --to COMMIT");
  const before = newestFirst[live + 1];
  if (!before) throw new CommandError("There is no earlier version than the one that is live.");
  return before;
}
