import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { repositoryRoot } from "../instance/towpath-process.ts";
import type { Cluster } from "./cluster.ts";
import { processGroup, until } from "./processes.ts";

const run = promisify(execFile);
/** As the launcher has built it. */
const program = join(repositoryRoot, ".toolchain/network-policy/kube-router");

/** Lets a program enforce the cluster's network policies, until it is stopped. `directory`: of its log. */
export async function enforcePolicies(cluster: Cluster, directory: string): Promise<{ stop(): Promise<void> }> {
  // Pods of one node talk over a bridge, which rules see only with this.
  await writeFile("/proc/sys/net/bridge/bridge-nf-call-iptables", "1");
  const argv = ["--run-router=false", "--run-service-proxy=false", "--run-firewall=true", "--health-port=0"];
  argv.push(`--kubeconfig=${cluster.kubeconfig}`, "--hostname-override=node-1");
  argv.push("--service-cluster-ip-range=10.96.0.0/16", "--service-node-port-range=30000-32767");
  const processes = processGroup(directory);
  processes.start("kube-router", program, argv);
  const isEnforcing = async () => (await run("iptables-save")).stdout.includes(":KUBE-NWPLCY-DEFAULT");
  await until("kube-router", isEnforcing, processes);
  return {
    async stop() {
      await processes.stop();
      await run(program, ["--cleanup-config"]).catch(() => {});
      await writeFile("/proc/sys/net/bridge/bridge-nf-call-iptables", "0");
    },
  };
}
