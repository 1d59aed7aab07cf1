import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A server on this machine that ends with its test, or by `close`. */
export async function listen(listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const close = () =>
    new Promise((done) => {
      server.close(done);
      server.closeAllConnections();
    });
  onTestFinished(() => void close());
  return { port: (server.address() as AddressInfo).port, close };
}

/** The port of such a server. */
export const serve = async (listener: RequestListener): Promise<number> => (await listen(listener)).port;

/** Hosts of URLs on this machine, in private networks and of clouds' metadata. */
export const innerHosts = [
  "127.0.0.1",
  "localhost",
  "[::1]",
  "10.0.0.1",
  "172.16.0.1",
  "192.168.1.1",
  "169.254.169.254",
  "100.64.0.1",
  "0.0.0.0",
  "[fe80::1]",
  "[fd00::1]",
  "[::ffff:127.0.0.1]",
  "[64:ff9b::7f00:1]",
  "[2002:7f00:1::]",
  "[::]",
  // Spellings that URL parsers turn into addresses.
  "2130706433",
  "0x7f.1",
  "127.1",
  "0177.0.0.1",
];
