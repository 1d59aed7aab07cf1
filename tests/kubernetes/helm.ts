import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { repositoryRoot } from "../instance/towpath-process.ts";
import type { Cluster } from "./cluster.ts";

const helm = join(repositoryRoot, ".toolchain/chart/helm");

/** `helm`, in a namespace and with homes of its own below `directory`. Its runs reject with what it prints. */
export function helmIn(
  { kubeconfig }: Cluster,
  { namespace, directory }: { readonly namespace: string; readonly directory: string },
): (...args: readonly string[]) => Promise<string> {
  const homes = ["CACHE", "CONFIG", "DATA"].map((each) => [`HELM_${each}_HOME`, join(directory, each)]);
  const env = { ...process.env, KUBECONFIG: kubeconfig, ...Object.fromEntries(homes) };
  return async (...args) => (await promisify(execFile)(helm, ["--namespace", namespace, ...args], { env })).stdout;
}
