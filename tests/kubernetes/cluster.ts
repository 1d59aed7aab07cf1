import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { repositoryRoot } from "../instance/towpath-process.ts";
import { unmountBelow } from "./clean-up.ts";
import { firstNode, importImages, nodeAddress, nodes, startNode, tagImage } from "./node.ts";
import { writePauseImage } from "./pause-image.ts";
import { createCertificates } from "./pki.ts";
import { processGroup, until } from "./processes.ts";

const run = promisify(execFile);
/** As the launcher has built them. */
const program = (name: string) => join(repositoryRoot, ".toolchain/kubernetes", name);

export { nodeAddress } from "./node.ts";

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
  /** Sends a signal to one of its programs, such as `kube-apiserver`. */
  signal(program: string, signal: NodeJS.Signals): Promise<void>;
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
      for (const node of (await kubectl("get", "nodes", "-o=name")).split("\n").filter(Boolean))
        await importImages(directory, node.replace("node/", ""), archive);
    },
    tagImage: async (name, other) => {
      for (const node of (await kubectl("get", "nodes", "-o=name")).split("\n").filter(Boolean))
        await tagImage(directory, node.replace("node/", ""), name, other);
    },
    signal: async (name, signal) =>
      void process.kill(Number(await readFile(join(directory, `${name}.pid`), "utf8")), signal),
  };
}

/**
 * Starts a cluster of one node in the network and mount namespace of this process, which have to be its own: see
 * `in-namespaces`. Resolves once the node is ready, to a function that stops it.
 */
export async function startCluster(directory: string): Promise<() => Promise<void>> {
  const certificates = join(directory, "certificates");
  await mkdir(certificates, { recursive: true });
  await prepareNetwork();
  const { path, kubeconfig } = await createCertificates(certificates, nodes, [nodeAddress, "127.0.0.1", "10.96.0.1"]);
  const configs = {
    manager: await kubeconfig("controller-manager", server),
    scheduler: await kubeconfig("scheduler", server),
    proxy: await kubeconfig("proxy", server),
  };
  for (const name of ["admin", ...nodes.map((each) => each.name)]) await kubeconfig(name, server);
  const { kubectl, auditLog } = clusterOf(directory);
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
  await writePauseImage(directory);
  const node = await startNode(directory, processes, firstNode);
  processes.start("kube-proxy", program("kube-proxy"), [
    `--kubeconfig=${configs.proxy}`,
    `--hostname-override=${firstNode.name}`,
    `--cluster-cidr=${podNetwork}`,
    "--conntrack-max-per-core=0",
    "--conntrack-tcp-timeout-established=0",
    "--conntrack-tcp-timeout-close-wait=0",
  ]);
  await node.isReady();
  return async () => {
    await kubectl("delete", "pods", "--all", "--all-namespaces", "--force", "--grace-period=0").catch(() => undefined);
    await processes.stop();
    await node.cleanUp();
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

async function prepareNetwork(): Promise<void> {
  await run("ip", ["link", "set", "lo", "up"]);
  for (const { address } of nodes) await run("ip", ["address", "add", `${address}/32`, "dev", "lo"]);
  await writeFile("/proc/sys/net/ipv4/ip_forward", "1");
  // A Service or pod that is gone is refused. On the way to the internet, something else might answer in its place.
  // OUTPUT still sees the first route of a request to a Service, through `tap0`, when its pod has been chosen already.
  for (const network of [serviceNetwork, podNetwork])
    for (const [chain, ...first] of [["OUTPUT", "-m", "conntrack", "!", "--ctstate", "DNAT"], ["FORWARD"]])
      await run("iptables", ["-A", `${chain}`, ...first, "-o", "tap0", "-d", network, "-j", "REJECT"]);
}
