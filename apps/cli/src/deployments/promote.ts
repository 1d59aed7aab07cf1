import { z } from "zod";
import { parse } from "../commands/parse.ts";
import { buildSchema, followBuild } from "../deploy/follow-build.ts";
import { connectApi } from "../instance/api.ts";
import { CommandError, print } from "../terminal/terminal.ts";
import { commitText, type Deployed, deploymentOf, listDeployments } from "./deployments.ts";

const promotedSchema = z.object({ build: buildSchema });

/** `towpath promote NAME BRANCH`: moves a preview's version into production, without a build. */
export async function promote(args: string[]): Promise<number> {
  const { values, positionals } = parse("promote", args);
  const [name = "", branch = ""] = positionals;
  const api = await connectApi(values);
  const deployed = await listDeployments(api, name, branch);
  const preview = values.commit === undefined ? livePreview(deployed, branch) : deploymentOf(values.commit, deployed);
  const path = `/api/v1/deployments/${preview.deployment.id}/promote${values.gradually ? "?gradually=true" : ""}`;
  const { build } = await api.call("POST", path, promotedSchema);
  const { orgSlug, name: projectName } = preview.project;
  print(`Promoting ${commitText(preview)}`);
  return followBuild(api, build.id, `${api.url}/${orgSlug}/${projectName}/build-logs/${build.id}`);
}

function livePreview(deployed: readonly Deployed[], branch: string): Deployed {
  const live = deployed.find(({ deployment }) => deployment.isLive);
  if (!live) throw new CommandError(`The preview of ${branch} isn't live. Say which version you want: --commit COMMIT`);
  return live;
}
