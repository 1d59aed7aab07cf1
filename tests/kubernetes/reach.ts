import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { Cluster } from "./cluster.ts";

const run = promisify(execFile);

/** Tries each for ten seconds, in which a plug-in has programmed its rules for a new pod. */
const program = `
import concurrent.futures, json, socket, sys, time

def reaches(target):
    host, port = target.rsplit(":", 1)
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            socket.create_connection((host, int(port)), 2).close()
        except OSError:
            return False
        time.sleep(0.5)
    return True

with concurrent.futures.ThreadPoolExecutor(32) as pool:
    print(json.dumps([target for target, is_reached in zip(sys.argv[1:], pool.map(reaches, sys.argv[1:])) if is_reached]))
`;

/** Those of the targets (`HOST:PORT`) that a pod with these labels reaches. */
export async function reachedFrom(
  cluster: Cluster,
  from: { readonly namespace: string; readonly labels: Readonly<Record<string, string>>; readonly image: string },
  targets: readonly string[],
): Promise<string[]> {
  const { namespace, labels, image } = from;
  const name = `reach-${randomBytes(4).toString("hex")}`;
  await cluster.create(namespace, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels },
    spec: {
      restartPolicy: "Never",
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 1,
      securityContext: { runAsNonRoot: true, runAsUser: 10001, seccompProfile: { type: "RuntimeDefault" } },
      containers: [
        {
          name: "reach",
          image,
          imagePullPolicy: "Never",
          command: ["python3", "-c", program, ...targets],
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
        },
      ],
    },
  });
  try {
    for (;;) {
      const phase = await cluster.kubectl("-n", namespace, "get", "pod", name, "-o=jsonpath={.status.phase}");
      if (phase === "Failed") throw new Error(await cluster.kubectl("-n", namespace, "logs", name));
      if (phase === "Succeeded") return JSON.parse(await cluster.kubectl("-n", namespace, "logs", name));
      await sleep(500);
    }
  } finally {
    await cluster.kubectl("-n", namespace, "delete", "pod", name, "--wait=false");
  }
}

/** Something that listens at addresses that the node doesn't have otherwise, as if it were elsewhere. */
export async function listenElsewhere(addresses: readonly string[]) {
  const change = async (verb: "add" | "delete") => {
    for (const address of addresses) await run("ip", ["address", verb, `${address}/32`, "dev", "lo"]);
  };
  await change("add");
  const server = createServer((socket) => socket.on("error", () => {}).end());
  server.listen(0, "0.0.0.0");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      server.close();
      await change("delete");
    },
  };
}
