import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { connectionOf } from "@towpath/runtime/testing/cluster";
import { type Cluster, nodeAddress } from "./cluster.ts";

/** A way to the API server that can be cut: then everything sent is silently kept back, as by a network that lost a link. */
export async function openLink(cluster: Cluster) {
  const sockets = new Set<Socket>();
  let isCut = false;
  const proxy = createServer((client) => {
    const server = connect(6443, nodeAddress);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on("error", () => to.destroy()).on("close", () => sockets.delete(from));
      if (isCut) from.unpipe(to).pause();
    }
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const server = `https://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const end = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    connect: async () => ({ ...(await connectionOf({ kind: "kubeconfig", path: cluster.kubeconfig })), server }),
    cut: () => {
      isCut = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    /** For new connections; what was under way is lost. */
    restore: () => {
      isCut = false;
      end();
    },
    close: () => {
      end();
      proxy.close();
    },
  };
}
