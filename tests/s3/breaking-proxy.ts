import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export type BreakingProxy = {
  readonly endpoint: string;
  /** What passed in each direction, in bytes. */
  readonly passed: { up: number; down: number };
  /** For each of the next connections that carry more than this in a direction: it breaks there, in the middle. */
  breaks: { direction: "up" | "down"; afterBytes: number }[];
  close(): Promise<void>;
};

/** Passes connections on to a service of this host. */
export async function startBreakingProxy(endpoint: string): Promise<BreakingProxy> {
  const target = new URL(endpoint);
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const service = connect(Number(target.port), target.hostname);
    for (const each of [client, service]) {
      open.add(each);
      each.on("error", () => {});
      each.on("close", () => {
        open.delete(each);
        client.destroy();
        service.destroy();
      });
    }
    const carried = { up: 0, down: 0 };
    const pass = (from: Socket, to: Socket, direction: "up" | "down") =>
      from.on("data", (chunk: Buffer) => {
        carried[direction] += chunk.length;
        proxy.passed[direction] += chunk.length;
        if (client.destroyed) return;
        const at = proxy.breaks.findIndex(
          (each) => each.direction === direction && carried[direction] > each.afterBytes,
        );
        if (at >= 0) {
          proxy.breaks.splice(at, 1);
          return client.resetAndDestroy();
        }
        if (to.write(chunk)) return;
        from.pause();
        to.once("drain", () => from.resume());
      });
    pass(client, service, "up");
    pass(service, client, "down");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const proxy: BreakingProxy = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed: { up: 0, down: 0 },
    breaks: [],
    async close() {
      server.close();
      for (const each of open) each.destroy();
      await once(server, "close");
    },
  };
  return proxy;
}
