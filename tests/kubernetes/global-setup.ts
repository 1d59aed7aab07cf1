import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startCluster } from "./cluster.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** For `clusterOf`. */
    clusterDirectory: string;
  }
}

/** One cluster for all files of the stage. TOWPATH_TEST_CLUSTER: directory of one that runs already. */
export default async function provideCluster(project: TestProject): Promise<() => Promise<void>> {
  const running = process.env.TOWPATH_TEST_CLUSTER;
  const directory = running ?? (await mkdtemp(join(tmpdir(), "towpath-cluster-")));
  const stop = running === undefined ? await startCluster(directory) : async () => {};
  project.provide("clusterDirectory", directory);
  return async () => {
    await stop();
    if (running === undefined) await rm(directory, { recursive: true, force: true });
  };
}
