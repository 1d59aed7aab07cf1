import { expect, test } from "vitest";
import { createAddressPolicy } from "./address-policy.ts";
import type { ResolveName } from "./checked-connection.ts";
import { createCheckedFetch } from "./checked-fetch.ts";
import { externalNetworkSettings } from "./config.ts";
import { EgressError } from "./egress-error.ts";
import { parseNetworks } from "./networks.ts";
import { innerHosts, listen, serve } from "./testing/local-server.ts";

const addresses =
  (...found: string[]): ResolveName =>
  async () =>
    found.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));

async function problemOf(url: string, { networks = "", resolve }: { networks?: string; resolve?: ResolveName } = {}) {
  const { fetch, close } = createCheckedFetch(createAddressPolicy(parseNetworks(networks)), resolve);
  try {
    const response = await fetch(url);
    return await response.text();
  } catch (error) {
    return error instanceof EgressError ? error.problem : String(error);
  } finally {
    await close();
  }
}

test("ORG-9 no address of this machine, a private network or a cloud's metadata is reached, however it is written", async () => {
  let requests = 0;
  const port = await serve((_request, response) => {
    requests++;
    response.end("reached");
  });
  for (const host of innerHosts) {
    for (const protocol of ["https", "http"])
      expect([host, await problemOf(`${protocol}://${host}:${port}/mcp`)]).toEqual([host, "address_not_allowed"]);
  }
  expect(requests).toBe(0);
});

test("ORG-9 a name that has any private address is refused, and each connection resolves and checks it again", async () => {
  const port = await serve((_request, response) => response.end("reached"));
  const mixed = addresses("8.8.8.8", "127.0.0.1");
  expect(await problemOf(`https://mixed.example:${port}/`, { resolve: mixed })).toBe("address_not_allowed");
  expect(await problemOf("https://none.example/", { resolve: addresses() })).toBe("name_not_found");
  // Rebinding: allowed at first, private afterwards. The connection goes to the checked address.
  const answers = ["127.0.0.1", "10.0.0.1"];
  const rebinding: ResolveName = async () => [{ address: answers.shift() ?? "10.0.0.1", family: 4 }];
  const { fetch, close } = createCheckedFetch(createAddressPolicy(["127.0.0.1/32"]), rebinding);
  const url = `http://rebinding.example:${port}/`;
  const once = { headers: { connection: "close" } };
  expect(await (await fetch(url, once)).text()).toBe("reached");
  await expect(fetch(url, once)).rejects.toMatchObject({ problem: "address_not_allowed" });
  await close();
});

test("ORG-9 the operator's networks are reached, without TLS too; public addresses only with it", async () => {
  const port = await serve((_request, response) => response.end("reached"));
  const url = `http://intern.example:${port}/`;
  const resolve = addresses("127.0.0.1");
  expect(await problemOf(url, { resolve })).toBe("address_not_allowed");
  expect(await problemOf(url, { resolve, networks: "10.0.0.0/8, 127.0.0.0/8" })).toBe("reached");
  expect(await problemOf(`http://127.0.0.1:${port}/`, { networks: "127.0.0.1" })).toBe("reached");
  expect(await problemOf(url, { resolve: addresses("8.8.8.8") })).toBe("address_not_allowed");
  // No setting opens a cloud's metadata.
  for (const host of ["169.254.169.254", "[fd00:ec2::254]", "0.0.0.0", "[::ffff:169.254.169.254]"])
    expect([
      host,
      await problemOf(`http://${host}:${port}/`, { networks: "128.0.0.0/1,0.0.0.0/1,::/1,8000::/1" }),
    ]).toEqual([host, "address_not_allowed"]);
  const setting = externalNetworkSettings.TOWPATH_EXTERNAL_NETWORKS;
  for (const wrong of ["name", "10.0.0.0/33"]) expect(() => setting.parse(wrong), wrong).toThrow("networks such as");
  for (const wrong of ["10.0.0.0/0", "10.0.0.0/8, ::/0", "10.0.0.0/00"])
    expect(() => setting.parse(wrong), wrong).toThrow("prefix of 0");
});

test("ORG-9 redirects are not followed, and a failed connection says why", async () => {
  let followed = 0;
  const port = await serve((request, response) => {
    if (request.url === "/to") followed++;
    response.writeHead(307, { location: "/to" }).end();
  });
  const local = { networks: "127.0.0.0/8" };
  expect(await problemOf(`http://127.0.0.1:${port}/`, local)).toBe("redirect");
  expect(followed).toBe(0);
  const closed = await listen(() => {});
  await closed.close();
  expect(await problemOf(`http://127.0.0.1:${closed.port}/`, local)).toBe("unreachable");
  // No TLS where it is asked for.
  expect(await problemOf(`https://127.0.0.1:${port}/`, local)).toBe("tls");
  for (const url of ["ftp://example.com/", "nope", "https://u:p@example.com/", "https://example.com/#f"])
    expect([url, await problemOf(url)]).toEqual([url, "invalid_url"]);
});
