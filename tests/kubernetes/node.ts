import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { repositoryRoot } from "../instance/towpath-process.ts";
import { endShims } from "./clean-up.ts";
import { createControlGroup, endProcessesIn, removeControlGroup } from "./control-group.ts";
import { pauseArchive } from "./pause-image.ts";
import { type ProcessGroup, until } from "./processes.ts";

const run = promisify(execFile);

/** The one that each cluster has, and one that a test may add. Their addresses don't depend on the machine. */
export const nodes = ["node-1", "node-2"].map((name, at) => ({ name, at, address: `10.250.0.${at + 2}` }));
type NodePlan = (typeof nodes)[number];
export const [firstNode, secondNode] = nodes as [NodePlan, NodePlan];
/** The first node, as pods see it. */
export const nodeAddress = firstNode.address;

export type ClusterNode = {
  isReady(): Promise<void>;
  /** As if the machine lost its power: all of it ends, and nothing answers at its addresses any more. */
  lose(): Promise<void>;
  /** Ends it and removes what is left of it. */
  cleanUp(): Promise<void>;
};

const socketOf = (directory: string, node: string): string => join(directory, node, "containerd.sock");

/** Imports the images of a docker-archive at a node. */
export const importImages = (cluster: string, node: string, archive: string) =>
  run("ctr", ["-a", socketOf(cluster, node), "-n", "k8s.io", "images", "import", archive]);

/** Gives an image of a node another name, too. */
export const tagImage = (cluster: string, node: string, name: string, other: string) =>
  run("ctr", ["-a", socketOf(cluster, node), "-n", "k8s.io", "images", "tag", "--force", name, other]);

/** Starts a node of the cluster in this directory. */
export async function startNode(cluster: string, processes: ProcessGroup, plan: NodePlan): Promise<ClusterNode> {
  const { name, at, address } = plan;
  const directory = join(cluster, name);
  const certificates = join(cluster, "certificates");
  const subnet = `10.244.${at}.0/24`;
  await startContainerd(directory, processes, { ...plan, subnet });
  await until("containerd", () => importImages(cluster, name, pauseArchive(cluster)).then(() => true), processes);
  const controlGroup = await createControlGroup(directory.slice(1).replaceAll("/", "-"));
  const config = join(directory, "kubelet.json");
  await writeFile(config, JSON.stringify(kubeletConfig(directory, { ...plan, certificates, controlGroup, subnet })));
  const bin = join(repositoryRoot, ".toolchain/kubernetes");
  processes.start(`kubelet-${name}`, join(bin, "kubelet"), [
    `--config=${config}`,
    `--kubeconfig=${join(certificates, `${name}.kubeconfig`)}`,
    `--hostname-override=${name}`,
    `--node-ip=${address}`,
    `--root-dir=${join(directory, "kubelet")}`,
  ]);
  const kubectl = (...args: string[]) =>
    run(join(bin, "kubectl"), [`--kubeconfig=${join(certificates, "admin.kubeconfig")}`, ...args]);
  const ready = '-o=jsonpath={.status.conditions[?(@.type=="Ready")].status}';
  const dropPackets = async (action: "-I" | "-D") => {
    for (const network of [subnet, `${address}/32`])
      for (const chain of ["OUTPUT", "FORWARD"]) await run("iptables", [action, chain, "-d", network, "-j", "DROP"]);
  };
  let isCutOff = false;
  const programs = ["kubelet", "containerd"].map((program) => `${program}-${name}`);
  return {
    isReady: () =>
      until("The node", async () => (await kubectl("get", "node", name, ready)).stdout === "True", processes),
    lose: async () => {
      isCutOff = true;
      await dropPackets("-I");
      for (const program of programs) await processes.end(program, "SIGKILL");
      await endShims(socketOf(cluster, name));
      await endProcessesIn(controlGroup);
    },
    cleanUp: async () => {
      if (isCutOff) await dropPackets("-D");
      for (const program of programs) await processes.end(program);
      await endShims(socketOf(cluster, name));
      await removeControlGroup(controlGroup);
    },
  };
}

/** The bridge for pods comes with the first of them. */
async function startContainerd(
  directory: string,
  processes: ProcessGroup,
  { name, at, subnet }: NodePlan & { readonly subnet: string },
): Promise<void> {
  const network = join(directory, "cni");
  await mkdir(network, { recursive: true });
  const bridge = {
    type: "bridge",
    bridge: `cni${at}`,
    isDefaultGateway: true,
    ipMasq: true,
    hairpinMode: true,
    ipam: { type: "host-local", dataDir: join(directory, "addresses"), ranges: [[{ subnet }]] },
  };
  const list = {
    cniVersion: "0.4.0",
    name: "pods",
    plugins: [bridge, { type: "portmap", capabilities: { portMappings: true } }],
  };
  await writeFile(join(network, "10-pods.conflist"), JSON.stringify(list));
  const config = `version = 2
root = "${directory}/containerd"
state = "${directory}/containerd-state"
[grpc]
  address = "${directory}/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "towpath.test/pause:1"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${network}"
`;
  await writeFile(join(directory, "containerd.toml"), config);
  processes.start(`containerd-${name}`, "containerd", [`--config=${join(directory, "containerd.toml")}`]);
}

const kubeletConfig = (
  directory: string,
  own: NodePlan & Readonly<Record<"certificates" | "controlGroup" | "subnet", string>>,
) => ({
  apiVersion: "kubelet.config.k8s.io/v1beta1",
  kind: "KubeletConfiguration",
  address: own.address,
  healthzBindAddress: own.address,
  authentication: {
    anonymous: { enabled: false },
    webhook: { enabled: true },
    x509: { clientCAFile: join(own.certificates, "ca.crt") },
  },
  tlsCertFile: join(own.certificates, `${own.name}.crt`),
  tlsPrivateKeyFile: join(own.certificates, `${own.name}.key`),
  cgroupDriver: "cgroupfs",
  cgroupRoot: `/${own.controlGroup}`,
  failCgroupV1: false,
  failSwapOn: false,
  enforceNodeAllocatable: [],
  containerRuntimeEndpoint: `unix://${join(directory, "containerd.sock")}`,
  evictionHard: { "nodefs.available": "1%", "imagefs.available": "1%", "memory.available": "50Mi" },
  imageGCHighThresholdPercent: 100,
  resolvConf: "/etc/resolv.conf",
  // Where a test that needs names of Services starts a resolver.
  clusterDNS: [nodeAddress],
  clusterDomain: "cluster.local",
  podCIDR: own.subnet,
  // A kubelet removes logs there of pods that it doesn't know.
  podLogsDir: join(directory, "logs"),
});
