import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { dnsSettings } from "./config.ts";
import { createDomainNames } from "./domain-names.ts";
import { type DnsServer, startDnsServer } from "./testing/dns-server.ts";

let server: DnsServer;
beforeAll(async () => {
  server = await startDnsServer();
});
afterAll(() => server.close());

test("OPS-12 records of a name are found, a name without them has none, and a server that fails is no answer", async () => {
  const names = createDomainNames([server.address]);
  const long = `towpath=${"x".repeat(300)}`;
  server.records.set("mcp.acme.com", [
    { type: "CNAME", value: "Weather.Towpath.Example" },
    { type: "A", value: "203.0.113.7" },
  ]);
  server.records.set("_towpath.mcp.acme.com", [
    { type: "TXT", value: "another" },
    { type: "TXT", value: long },
  ]);
  server.records.set("broken.acme.com", "failed");
  expect(await names.alias("mcp.acme.com")).toBe("weather.towpath.example");
  expect(await names.addresses("mcp.acme.com")).toEqual(["203.0.113.7"]);
  expect(await names.texts("_towpath.mcp.acme.com")).toEqual(["another", long]);
  expect([await names.texts("mcp.acme.com"), await names.alias("_towpath.mcp.acme.com")]).toEqual([[], null]);
  expect([await names.texts("nobody.acme.com"), await names.addresses("nobody.acme.com")]).toEqual([[], []]);
  for (const asked of [
    names.texts("broken.acme.com"),
    names.alias("broken.acme.com"),
    names.addresses("broken.acme.com"),
  ])
    await expect(asked).rejects.toMatchObject({ code: "ESERVFAIL" });
});

test("OPS-12 DNS servers are addresses, with a port or without", () => {
  const settings = z.object(dnsSettings);
  const parse = (text: string) => settings.safeParse({ TOWPATH_DNS_SERVERS: text });
  expect(parse("").data).toEqual({ TOWPATH_DNS_SERVERS: [] });
  const several = "10.0.0.2, 127.0.0.1:8053,2001:db8::1,[2001:db8::1]:53";
  expect(parse(several).data?.TOWPATH_DNS_SERVERS).toHaveLength(4);
  for (const wrong of ["dns.example.com", "10.0.0.2:0", "10.0.0.2:99999", "10.0.0.300"])
    expect(parse(wrong).error?.issues[0]?.message, wrong).toBe("must be IP addresses, separated by commas");
});
