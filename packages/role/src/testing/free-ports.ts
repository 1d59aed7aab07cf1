import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:net";

/**
 * Ports of 127.0.0.1 that are free now. They are below those that the kernel gives to outgoing connections and to
 * whoever asks for any port: one of these could be taken again before the process that it is for listens.
 */
export async function freePorts(count: number): Promise<number[]> {
  const held: Server[] = [];
  const ports: number[] = [];
  while (ports.length < count) {
    const port = randomInt(20_000, 32_000);
    const server = createServer();
    server.listen(port, "127.0.0.1");
    const free = await once(server, "listening").then(
      () => true,
      () => false,
    );
    if (!free) continue;
    held.push(server);
    ports.push(port);
  }
  await Promise.all(held.map((server) => once(server.close(), "close")));
  return ports;
}

/** One such port. */
export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}
