import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { repositoryRoot } from "../instance/towpath-process.ts";
import { endShims, unmountBelow } from "./clean-up.ts";
import { createControlGroup, removeControlGroup } from "./control-group.ts";
import { writePauseImage } from "./pause-image.ts";
import { createCertificates } from "./pki.ts";
import { type ProcessGroup, processGroup, until } from "./processes.ts";

const run = promisify(execFile);
/** As the launcher has built them. */
const program = (name: string) => join(repositoryRoot, ".toolchain/kubernetes", name);

const nodeName = "node-1";
/** The node, as pods see it. */
export const nodeAddress = "10.250.0.2";
const server = `https://${nodeAddress}:6443`;
const podNetwork = "10.244.0.0/16";
const serviceNetwork = "10.96.0.0/16";

export type Cluster = {
  /** Path of an administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** Path of a file with a line of JSON for each request that did not come from the cluster itself. */
  readonly auditLog: string;
  /** Resolves to its output. @throws Error with what it printed */
  kubectl(...args: readonly string[]): Promise<string>;
  /** Creates a namespace in which pods can be created at once. */
  createNamespace(name: string): Promise<void>;
  /** @throws Error with what the API server has against the object */
  create(namespace: string, object: object): Promise<void>;
  /** Imports the images of a docker-archive; pods need `imagePullPolicy: Never`. */
  importImages(archive: string): Promise<void>;
  /** Gives an image that it has another name. */
  tagImage(name: string, other: string): Promise<void>;
};

/** The cluster that was started with this directory. */
export function clusterOf(directory: string): Cluster {
  const kubeconfig = join(directory, "certificates/admin.kubeconfig");
  const kubectl = async (...args: readonly string[]) => {
    const options = { maxBuffer: 64 * 1024 * 1024 };
    return (await run(program("kubectl"), [`--kubeconfig=${kubeconfig}`, ...args], options)).stdout;
  };
  return {
    kubeconfig,
    auditLog: join(directory, "audit.log"),
    kubectl,
    createNamespace: async (name) => {
      await kubectl("create", "namespace", name);
      // A controller makes it a little later.
      while (!(await kubectl("-n", name, "get", "serviceaccounts", "-o=name")).includes("/default")) await sleep(50);
    },
    create: async (namespace, object) => {
      const args = [`--kubeconfig=${kubeconfig}`, "-n", namespace, "create", "--validate=strict", "-f", "-"];
      const created = run(program("kubectl"), args);
      created.child.stdin?.end(JSON.stringify(object));
      await created;
    },
    importImages: async (archive) => {
      await run("ctr", ["-a", socketOf(directory), "-n", "k8s.io", "images", "import", archive]);
    },
    tagImage: async (name, other) => {
      await run("ctr", ["-a", socketOf(directory), "-n", "k8s.io", "images", "tag", "--force", name, other]);
    },
  };
}

const socketOf = (directory: string) => join(directory, "containerd.sock");

/**
 * Starts a cluster of one node in the network and mount namespace of this process, which have to be its own: see
 * `in-namespaces`. Resolves once the node is ready, to a function that stops it.
 */
export async function startCluster(directory: string): Promise<() => Promise<void>> {
  const certificates = join(directory, "certificates");
  await mkdir(certificates, { recursive: true });
  await prepareNetwork();
  const { path, kubeconfig } = await createCertificates(certificates, nodeName, [
    nodeAddress,
    "127.0.0.1",
    "10.96.0.1",
  ]);
  const configs = {
    kubelet: await kubeconfig("kubelet", server),
    manager: await kubeconfig("controller-manager", server),
    scheduler: await kubeconfig("scheduler", server),
    proxy: await kubeconfig("proxy", server),
  };
  await kubeconfig("admin", server);
  const { kubectl, importImages, auditLog } = clusterOf(directory);
  const processes = processGroup(directory);

  processes.start("etcd", "etcd", [
    `--data-dir=${join(directory, "etcd")}`,
    "--unsafe-no-fsync",
    "--listen-client-urls=http://127.0.0.1:2379",
    "--advertise-client-urls=http://127.0.0.1:2379",
    "--listen-peer-urls=http://127.0.0.1:2380",
  ]);
  const policy = join(directory, "audit-policy.json");
  await writeFile(policy, JSON.stringify(auditPolicy));
  processes.start("kube-apiserver", program("kube-apiserver"), [
    "--etcd-servers=http://127.0.0.1:2379",
    "--secure-port=6443",
    `--advertise-address=${nodeAddress}`,
    `--tls-cert-file=${path("apiserver.crt")}`,
    `--tls-private-key-file=${path("apiserver.key")}`,
    `--client-ca-file=${path("ca.crt")}`,
    `--kubelet-certificate-authority=${path("ca.crt")}`,
    `--kubelet-client-certificate=${path("admin.crt")}`,
    `--kubelet-client-key=${path("admin.key")}`,
    `--service-account-issuer=${server}`,
    `--service-account-key-file=${path("service-accounts.pub")}`,
    `--service-account-signing-key-file=${path("service-accounts.key")}`,
    `--service-cluster-ip-range=${serviceNetwork}`,
    "--authorization-mode=Node,RBAC",
    // The node's name doesn't resolve: logs of pods come from its address.
    "--kubelet-preferred-address-types=InternalIP",
    "--allow-privileged",
    `--audit-policy-file=${policy}`,
    `--audit-log-path=${auditLog}`,
  ]);
  await until("The API server", () => kubectl("get", "--raw=/readyz").then((text) => text === "ok"), processes);
  processes.start("kube-controller-manager", program("kube-controller-manager"), [
    `--kubeconfig=${configs.manager}`,
    "--use-service-account-credentials",
    `--service-account-private-key-file=${path("service-accounts.key")}`,
    `--root-ca-file=${path("ca.crt")}`,
    `--cluster-cidr=${podNetwork}`,
    "--allocate-node-cidrs",
    "--leader-elect=false",
  ]);
  processes.start("kube-scheduler", program("kube-scheduler"), [
    `--kubeconfig=${configs.scheduler}`,
    "--leader-elect=false",
  ]);
  await startContainerd(directory, processes);
  const archive = await writePauseImage(directory);
  await until("containerd", () => importImages(archive).then(() => true), processes);
  const controlGroup = await createControlGroup(directory.slice(1).replaceAll("/", "-"));
  await startKubelet(directory, processes, { controlGroup, kubeconfig: configs.kubelet, path });
  processes.start("kube-proxy", program("kube-proxy"), [
    `--kubeconfig=${configs.proxy}`,
    `--hostname-override=${nodeName}`,
    `--cluster-cidr=${podNetwork}`,
    "--conntrack-max-per-core=0",
    "--conntrack-tcp-timeout-established=0",
    "--conntrack-tcp-timeout-close-wait=0",
  ]);
  const ready = '{.status.conditions[?(@.type=="Ready")].status}';
  await until(
    "The node",
    async () => (await kubectl("get", "node", nodeName, `-o=jsonpath=${ready}`)) === "True",
    processes,
  );
  return async () => {
    await kubectl("delete", "pods", "--all", "--all-namespaces", "--force", "--grace-period=0").catch(() => undefined);
    await processes.stop();
    await endShims(socketOf(directory));
    await removeControlGroup(controlGroup);
    await unmountBelow(directory);
  };
}

/** What the cluster does by itself is not of interest. */
const auditPolicy = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived", "ResponseStarted"],
  rules: [
    { level: "None", userGroups: ["system:nodes"] },
    {
      level: "None",
      users: ["system:kube-controller-manager", "system:kube-scheduler", "system:kube-proxy", "system:apiserver"],
    },
    { level: "None", userGroups: ["system:serviceaccounts:kube-system"] },
    { level: "Metadata" },
  ],
};

/** The bridge for pods comes with the first of them. The node's address doesn't depend on the machine. */
async function prepareNetwork(): Promise<void> {
  await run("ip", ["link", "set", "lo", "up"]);
  await run("ip", ["address", "add", `${nodeAddress}/32`, "dev", "lo"]);
  await writeFile("/proc/sys/net/ipv4/ip_forward", "1");
}

async function startContainerd(directory: string, processes: ProcessGroup): Promise<void> {
  const network = join(directory, "cni");
  await mkdir(network);
  const bridge = {
    type: "bridge",
    bridge: "cni0",
    isDefaultGateway: true,
    ipMasq: true,
    hairpinMode: true,
    ipam: { type: "host-local", dataDir: join(directory, "addresses"), ranges: [[{ subnet: "10.244.0.0/24" }]] },
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
  address = "${socketOf(directory)}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "towpath.test/pause:1"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${network}"
`;
  await writeFile(join(directory, "containerd.toml"), config);
  processes.start("containerd", "containerd", [`--config=${join(directory, "containerd.toml")}`]);
}

async function startKubelet(
  directory: string,
  processes: ProcessGroup,
  at: { readonly controlGroup: string; readonly kubeconfig: string; readonly path: (file: string) => string },
): Promise<void> {
  const config = {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: at.path("ca.crt") },
    },
    tlsCertFile: at.path("kubelet.crt"),
    tlsPrivateKeyFile: at.path("kubelet.key"),
    cgroupDriver: "cgroupfs",
    cgroupRoot: `/${at.controlGroup}`,
    failCgroupV1: false,
    failSwapOn: false,
    enforceNodeAllocatable: [],
    containerRuntimeEndpoint: `unix://${socketOf(directory)}`,
    evictionHard: { "nodefs.available": "1%", "imagefs.available": "1%", "memory.available": "50Mi" },
    imageGCHighThresholdPercent: 100,
    resolvConf: "/etc/resolv.conf",
    // Not the machine's, where the kubelet of another cluster would remove what it doesn't know.
    podLogsDir: join(directory, "pod-logs"),
    // Where a test that needs names of Services starts a resolver.
    clusterDNS: [nodeAddress],
    clusterDomain: "cluster.local",
    podCIDR: "10.244.0.0/24",
  };
  const file = join(directory, "kubelet.json");
  await writeFile(file, JSON.stringify(config));
  processes.start("kubelet", program("kubelet"), [
    `--config=${file}`,
    `--kubeconfig=${at.kubeconfig}`,
    `--hostname-override=${nodeName}`,
    `--node-ip=${nodeAddress}`,
    `--root-dir=${join(directory, "kubelet")}`,
  ]);
}
