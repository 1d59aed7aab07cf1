import type { ServerResponse } from "node:http";
import { Socket } from "node:net";
import { networkList } from "@towpath/egress";
import { expect, test } from "vitest";
import { type ConnectionLimits, Connections } from "./connections.ts";

/** A socket that is destroyed as soon as it is refused: it isn't connected, so nothing written to it is ever sent. */
function from(remoteAddress: string): Socket {
  const socket = Object.defineProperty(new Socket(), "remoteAddress", { value: remoteAddress });
  return Object.assign(socket, { destroySoon: () => socket.destroy() });
}
const limited = (limits: Partial<ConnectionLimits>, now?: () => number) =>
  new Connections(
    {
      maxConnections: 100,
      maxConnectionsPerAddress: 100,
      maxIdlePerAddress: 100,
      newPerAddress: null,
      proxies: networkList([]),
      ...limits,
    },
    now,
  );
const underWay = { writableFinished: false } as ServerResponse;
const answered = { writableFinished: true } as ServerResponse;

/** Connections of an address that were accepted; `response`: of a request that comes on each at once. */
const accepted = (connections: Connections, address: string, count: number, response?: ServerResponse) =>
  Array.from({ length: count }, () => {
    const socket = from(address);
    connections.accept(socket);
    if (response) connections.requestStarted(socket, response);
    return socket;
  }).filter((socket) => !socket.destroyed);
/** Sockets emit `close` in a later turn. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

test("GW-9 a network has its share of the connections; proxies and this machine stand for many clients", async () => {
  const connections = limited({ maxConnectionsPerAddress: 3, proxies: networkList(["10.1.0.0/16", "fd00::1/128"]) });
  const own = accepted(connections, "203.0.113.7", 10, underWay);
  expect(own).toHaveLength(3);
  // The same address, from a socket that listens on both families.
  expect(accepted(connections, "::ffff:203.0.113.7", 10)).toHaveLength(0);
  expect(accepted(connections, "203.0.113.8", 10, underWay)).toHaveLength(3);
  // One client has all of a /64.
  expect(accepted(connections, "2001:db8::1", 2, underWay)).toHaveLength(2);
  expect(accepted(connections, "2001:db8::2", 2, underWay)).toHaveLength(1);
  expect(accepted(connections, "2001:db8:0:1::2", 2, underWay)).toHaveLength(2);
  for (const address of ["127.0.0.1", "::1", "10.1.2.3", "::ffff:10.1.2.3", "fd00::1"]) {
    expect([address, accepted(connections, address, 10).length]).toEqual([address, 10]);
  }
  own[0]?.destroy();
  await turn();
  expect(accepted(connections, "203.0.113.7", 10, underWay)).toHaveLength(1);
});

test("GW-9 a network that has its share closes no other's connections", () => {
  const connections = limited({ maxConnections: 5, maxConnectionsPerAddress: 3 });
  const quiet = accepted(connections, "203.0.113.8", 2);
  expect(accepted(connections, "203.0.113.7", 3, underWay)).toHaveLength(3);
  expect(accepted(connections, "203.0.113.7", 10, underWay)).toHaveLength(0);
  expect([connections.evicted, quiet.some((socket) => socket.destroyed)]).toEqual([0, false]);
});

test("GW-9 a network's idle connections make room for its own new ones, oldest first, and never its busy ones", () => {
  const connections = limited({ maxConnectionsPerAddress: 4, maxIdlePerAddress: 2 });
  const busy = accepted(connections, "203.0.113.7", 2, underWay);
  const idle = [...accepted(connections, "203.0.113.7", 1, answered), ...accepted(connections, "203.0.113.7", 1)];
  const others = accepted(connections, "203.0.113.8", 1, answered);
  const next = accepted(connections, "203.0.113.7", 1);
  expect(idle.map(({ destroyed }) => destroyed)).toEqual([true, false]);
  expect([...busy, ...next, ...others].some(({ destroyed }) => destroyed)).toBe(false);
  expect(connections.evicted).toBe(1);
  // However many come without a request, two stay.
  const many = accepted(connections, "203.0.113.9", 50);
  expect(many.filter(({ destroyed }) => !destroyed)).toHaveLength(2);
});

test("GW-9 a network that connects too often is refused with the reason, until its time has come", async () => {
  let now = 0;
  const connections = limited({ newPerAddress: { perMinute: 60, burst: 3 } }, () => now);
  const often = () => accepted(connections, "203.0.113.7", 10);
  expect(often()).toHaveLength(3);
  expect(often()).toHaveLength(0);
  expect(accepted(connections, "203.0.113.8", 10)).toHaveLength(3);
  now = 2000;
  expect(often()).toHaveLength(2);
  expect(connections.refused).toBe(7 + 10 + 7 + 8);
});
