import type { Context } from "../context/index.ts";
import { authorizeBuild } from "./authorize-build.ts";
import type { BuildView } from "./build.view.ts";
import { findBuildView } from "./build-view.ts";

/** One build with its manifest; also the access check of its log stream (PRJ-3). */
export async function getBuild(call: { ctx: Context; input: { readonly buildId: string } }): Promise<BuildView> {
  await authorizeBuild(call.ctx, "build.read", call.input.buildId);
  return findBuildView(call.ctx, call.input.buildId);
}
