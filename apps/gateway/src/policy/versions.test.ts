import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { Route } from "../read-model/routes.ts";
import { versionFor } from "./versions.ts";

const [live, candidate] = ["live", "candidate"];
const routeWith = (share: number, more: object = {}): Route =>
  ({
    target: { kind: "deployment", deploymentId: live },
    release: {
      id: "0198f6a0-0000-7000-8000-000000000001",
      deploymentId: candidate,
      isRunning: true,
      share,
      hasSessions: true,
      answersAsleep: false,
      ...more,
    },
  }) as unknown as Route;

const opening = { kind: "request", method: "initialize", era: "legacy" } as const;
const modern = { kind: "request", method: "tools/call", era: "modern" } as const;
type Peek = typeof opening | typeof modern | { kind: "request"; method: "tools/list"; era: "legacy" };

const ask = (route: Route, peek: Peek, { id = "1", caller = "anonymous", address = "192.0.2.1" } = {}) =>
  versionFor(route, { call: { id, address }, principal: { id: caller }, peek });

const callers = Array.from({ length: 2000 }, (_, number) => ({ caller: `user:${number}` }));

test("CAP-8 the share is that of sessions in the legacy era, and of callers in the modern one", () => {
  for (const share of [5, 25, 50]) {
    const route = routeWith(share);
    const sessions = callers.filter((_, number) => ask(route, opening, { id: `call ${number}` }) === candidate);
    const people = callers.filter((each) => ask(route, modern, each) === candidate);
    // 2000 of them: five standard deviations are 5.6 points at most.
    for (const { length } of [sessions, people]) expect(Math.abs(length / 20 - share)).toBeLessThan(5.6);
  }
});

test("CAP-8 a caller without sessions stays with a version, and a larger share takes none back", () => {
  const small = callers.filter((each) => ask(routeWith(5), modern, each) === candidate);
  for (const each of small) {
    expect(ask(routeWith(5), modern, { ...each, id: randomUUID(), address: "192.0.2.9" })).toBe(candidate);
    for (const share of [25, 50, 100]) expect(ask(routeWith(share), modern, each)).toBe(candidate);
  }
  expect(small.length).toBeGreaterThan(0);
  // Strangers differ by their addresses.
  const addresses = callers.map((_, number) => ({ address: `198.51.${number % 256}.${Math.floor(number / 256)}` }));
  const versions = new Set(addresses.map((each) => ask(routeWith(50), modern, each)));
  expect(versions).toEqual(new Set([live, candidate]));
});

test("CAP-8 where a server gives out no sessions, a handshake goes where the caller's other requests go", () => {
  const route = routeWith(50, { hasSessions: false });
  const list = { kind: "request", method: "tools/list", era: "legacy" } as const;
  for (const each of callers.slice(0, 200))
    expect(ask(route, opening, { ...each, id: randomUUID() })).toBe(ask(route, list, { ...each, id: randomUUID() }));
});

test("CAP-8 without a release that runs, all is for the version that is live", () => {
  for (const each of callers.slice(0, 50)) {
    expect(ask(routeWith(0), modern, each)).toBe(live);
    expect(ask(routeWith(100, { isRunning: false }), opening, each)).toBe(live);
    expect(ask({ ...routeWith(50), release: null }, modern, each)).toBe(live);
    expect(ask(routeWith(100), modern, each)).toBe(candidate);
  }
  const elsewhere = { ...routeWith(100), target: { kind: "portal", portalId: randomUUID() } } as Route;
  expect(ask(elsewhere, modern)).toBeNull();
});
