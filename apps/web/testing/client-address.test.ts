import { request as httpRequest } from "node:http";
import { expect, test } from "vitest";
import { openSite } from "./site.ts";

/** Represents a gateway on another host: once a proxy is configured, only 127.0.0.1 of this machine counts as one. */
const gateway = "127.0.0.3";
const site = openSite(() => ({ TOWPATH_PROXIES: "127.0.0.2/31, 2001:db8::7" }));

/** The limit of one address in a minute. */
const registrations = 60;

/** Sends a registration that is refused for its content, unless its address has sent too many. */
function register(localAddress: string, forwardedFor: string): Promise<number> {
  const { port } = new URL(site.url);
  const body = "{}";
  const headers = {
    "content-type": "application/json",
    "content-length": String(body.length),
    connection: "close",
    "x-forwarded-for": forwardedFor,
  };
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, path: "/oauth/register", method: "POST", headers, localAddress };
    httpRequest(options, (response) => response.resume().on("end", () => resolve(response.statusCode ?? 0)))
      .on("error", reject)
      .end(body);
  });
}

/** Sends one request more than an address may; resolves to the statuses. */
async function flood(localAddress: string, forwardedFor: (at: number) => string): Promise<number[]> {
  const statuses: number[] = [];
  for (let at = 0; at <= registrations; at++) statuses.push(await register(localAddress, forwardedFor(at)));
  return statuses;
}
const limitedAtTheEnd = [...Array<number>(registrations).fill(400), 429];

test("GW-5 GW-9 OAuth requests are limited by the address that a trusted proxy saw; what stands before it is forged", async () => {
  expect(await flood(gateway, (at) => `198.51.100.${at}, 203.0.113.7`)).toEqual(limitedAtTheEnd);
  expect(await register(gateway, "203.0.113.8")).toBe(400);
  expect(await register(gateway, "203.0.113.8, 203.0.113.7")).toBe(429);
  // Requests don't count for the gateway's address: its other clients continue.
  expect(await register("127.0.0.1", "203.0.113.9")).toBe(400);
}, 60_000);

test("GW-9 an IPv6 client counts by its /64, whose addresses it all has", async () => {
  expect(await flood(gateway, (at) => `2001:db8:0:1::${at.toString(16)}`)).toEqual(limitedAtTheEnd);
  expect(await register(gateway, "2001:db8:0:2::1")).toBe(400);
}, 60_000);

test("GW-9 clients that aren't proxies can't change their address by a header", async () => {
  expect(await flood("127.0.0.4", (at) => `192.0.2.${at}`)).toEqual(limitedAtTheEnd);
  expect(await register("127.0.0.5", "192.0.2.1")).toBe(400);
}, 60_000);
