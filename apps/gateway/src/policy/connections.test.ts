import { Socket } from "node:net";
import { expect, test } from "vitest";
import { Connections, isListed, parseAddresses } from "./connections.ts";

function from(remoteAddress: string): Socket {
  return Object.defineProperty(new Socket(), "remoteAddress", { value: remoteAddress });
}
const accepted = (connections: Connections, address: string, count: number) =>
  Array.from({ length: count }, () => {
    const socket = from(address);
    connections.accept(socket);
    return socket;
  }).filter((socket) => !socket.destroyed);

test("GW-9 an address has its share of the connections; proxies and this machine stand for many clients", async () => {
  const proxies = parseAddresses("10.1.0.0/16, fd00::1");
  const connections = new Connections({ maxConnections: 100, maxConnectionsPerAddress: 3, proxies });
  const own = accepted(connections, "203.0.113.7", 10);
  expect(own).toHaveLength(3);
  // The same address, told by a socket that listens on both families.
  expect(accepted(connections, "::ffff:203.0.113.7", 10)).toHaveLength(0);
  expect(accepted(connections, "203.0.113.8", 10)).toHaveLength(3);
  for (const address of ["127.0.0.1", "::1", "10.1.2.3", "::ffff:10.1.2.3", "fd00::1"]) {
    expect([address, accepted(connections, address, 10).length]).toEqual([address, 10]);
  }
  own[0]?.destroy();
  await new Promise((resolve) => setImmediate(resolve));
  expect(accepted(connections, "203.0.113.7", 10)).toHaveLength(1);
});

test("GW-9 an address that has its share closes no other's connections", () => {
  const limits = { maxConnections: 5, maxConnectionsPerAddress: 3, proxies: parseAddresses("") };
  const connections = new Connections(limits);
  const quiet = accepted(connections, "203.0.113.8", 2);
  expect(accepted(connections, "203.0.113.7", 3)).toHaveLength(3);
  expect(accepted(connections, "203.0.113.7", 10)).toHaveLength(0);
  expect([connections.evicted, quiet.some((socket) => socket.destroyed)]).toEqual([0, false]);
});

test("OPS-1 lists of addresses are checked", () => {
  const list = parseAddresses(" 10.0.0.1 ,fd00::/8,");
  expect([isListed(list, "10.0.0.1"), isListed(list, "10.0.0.2"), isListed(list, "fd12::1")]).toEqual([
    true,
    false,
    true,
  ]);
  for (const wrong of ["proxy.example", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/8/8x", "10.0.0"]) {
    expect(() => parseAddresses(wrong)).toThrow(wrong);
  }
});
