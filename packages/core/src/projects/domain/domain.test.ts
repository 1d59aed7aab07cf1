import { auditLog, domain } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { beforeEach, expect, test } from "vitest";
import { requireResource } from "../../calling/oauth/server-resource.ts";
import type { Actor } from "../../context/index.ts";
import type { DomainNames } from "../../ports/index.ts";
import { describeAction } from "../../tenancy/audit-log/action-words.ts";
import { refusal, refusalCode, seedOrganization, seedProject } from "../../testing/index.ts";
import { openProjectSuite } from "../../testing/project-suite.ts";
import { maxDomains } from "./domain.schema.ts";
import { addDomain, checkDomain, checkDueDomains, listDomains, removeDomain } from "./index.ts";

/** What the DNS has: texts, names and addresses by name; `null`: it doesn't answer. */
let texts: Record<string, readonly string[] | null>;
let aliases: Record<string, string>;
let addresses: Record<string, readonly string[]>;
let now: Date;
const domainNames: DomainNames = {
  texts: async (name) => {
    const found = texts[name];
    if (found === null) throw new Error("ETIMEOUT");
    return found ?? [];
  },
  alias: async (name) => aliases[name] ?? null,
  addresses: async (name) => addresses[name] ?? [],
};
const suite = openProjectSuite({
  domainNames,
  clock: { now: () => now },
  serverUrlTemplate: "https://{name}.towpath.example.com",
  dashboardUrl: "https://towpath.example.com",
});
beforeEach(async () => {
  [texts, aliases, addresses] = [{}, {}, {}];
  now = new Date("2026-11-26T12:00:00Z");
  await suite.database.db.delete(domain);
});

const later = (ms: number) => {
  now = new Date(now.getTime() + ms);
};
const dayMs = 86_400_000;
const as = (actor: Actor = suite.organization.owner) => suite.as(actor);
const add = (name: string, actor?: Actor) => addDomain({ ctx: as(actor), input: { ...suite.at(), domain: name } });
const check = (name: string, actor?: Actor) => checkDomain({ ctx: as(actor), input: { ...suite.at(), domain: name } });
const list = (actor?: Actor) => listDomains({ ctx: as(actor), input: suite.at() });
const checkDue = () => checkDueDomains({ ctx: as({ kind: "job", job: "domains" }), input: { limit: 5 } });
const tokenOf = ({ records }: { readonly records: readonly { readonly type: string; readonly value: string }[] }) =>
  records.find(({ type }) => type === "TXT")?.value ?? "";
const ownHost = () => `${suite.project.name.toLowerCase()}.towpath.example.com`;
const actions = async () => {
  const rows = await suite.database.db
    .select()
    .from(auditLog)
    .where(eq(auditLog.projectId, suite.project.id))
    .orderBy(auditLog.id);
  return rows.filter(({ action }) => action.startsWith("domain.")).map((row) => describeAction(row.action, row).text);
};

test("OPS-12 ORG-10 a domain leads to its server once the record with its token was seen, and the address is reported too", async () => {
  const member = await suite.organization.join("member");
  const asked = await add(" MCP.Acme.com. ", member);
  expect(asked).toMatchObject({
    domain: "mcp.acme.com",
    url: "https://mcp.acme.com/mcp",
    activeAt: null,
    checkedAt: null,
    records: [
      { type: "CNAME", name: "mcp.acme.com", value: ownHost(), seenAt: null, problem: null },
      { type: "TXT", name: "_towpath.mcp.acme.com", value: expect.stringMatching(/^towpath=[\w-]{43}$/), seenAt: null },
    ],
  });
  const absent = "There is no such record yet. New records can take minutes to be seen.";
  expect(await check("mcp.acme.com", member)).toMatchObject({
    activeAt: null,
    checkedAt: now.toISOString(),
    records: [{ problem: absent }, { problem: absent }],
  });
  texts["_towpath.mcp.acme.com"] = ["v=spf1", "towpath=of-somebody-else"];
  addresses["mcp.acme.com"] = ["192.0.2.1"];
  expect((await check("mcp.acme.com")).records).toMatchObject([
    { problem: expect.stringMatching(/^The name leads to another place\. That is right only if it is a proxy/) },
    { problem: "There is a record with another value. Replace it, or add one." },
  ]);
  texts["_towpath.mcp.acme.com"] = ["towpath=of-somebody-else", tokenOf(asked)];
  // Once it is theirs: this machine's DNS may know names that nobody else should.
  expect((await check("mcp.acme.com")).records[0]?.problem).toMatch(/^The name leads to 192\.0\.2\.1\. That is/);
  aliases["mcp.acme.com"] = ownHost();
  const seen = { seenAt: now.toISOString(), problem: null };
  expect(await check("MCP.acme.com")).toMatchObject({ activeAt: now.toISOString(), records: [seen, seen] });
  // A whole domain has addresses, because it can't have a CNAME.
  const whole = await add("acme.com");
  addresses["acme.com"] = ["192.0.2.1", "2001:db8::1"];
  addresses[ownHost()] = ["2001:db8::1"];
  texts["_towpath.acme.com"] = [tokenOf(whole)];
  expect((await check("acme.com")).records).toMatchObject([seen, seen]);
  expect((await list(await suite.organization.join("viewer"))).map((each) => each.domain)).toEqual([
    "mcp.acme.com",
    "acme.com",
  ]);
  await removeDomain({ ctx: as(), input: { ...suite.at(), domain: "acme.com" } });
  const { name } = suite.project;
  expect(await actions()).toEqual([
    `asked for the domain mcp.acme.com for ${name}`,
    `connected the domain mcp.acme.com to ${name}`,
    `asked for the domain acme.com for ${name}`,
    `connected the domain acme.com to ${name}`,
    `removed the domain acme.com from ${name}`,
  ]);
});

test("OPS-12 what is no domain, the instance's own names, a domain twice and too many are refused", async () => {
  for (const wrong of [
    "",
    "localhost",
    "10.0.0.1",
    "https://mcp.acme.com",
    "mcp.acme.com/mcp",
    "*.acme.com",
    "a b.com",
  ])
    expect(await refusal(add(wrong)), wrong).toMatchObject({
      code: "invalid_input",
      fields: { domain: expect.anything() },
    });
  for (const own of ["towpath.example.com", "x.towpath.example.com", ownHost()])
    expect((await refusal(add(own))).message, own).toMatch(/^Names at towpath\.example\.com belong to this instance/);
  // International names, as DNS has them.
  expect((await add("mcp.bücher.example")).domain).toBe("mcp.xn--bcher-kva.example");
  expect(await refusalCode(add("MCP.bücher.example"))).toBe("conflict");
  for (let at = 1; at < maxDomains; at++) await add(`mcp${at}.acme.com`);
  expect(await refusalCode(add("more.acme.com"))).toBe("limit_reached");
});

test("OPS-12 viewers see domains and change none; other organizations find none", async () => {
  await add("mcp.acme.com");
  const viewer = await suite.organization.join("viewer");
  const changes = [
    (actor: Actor) => add("b.acme.com", actor),
    (actor: Actor) => check("mcp.acme.com", actor),
    (actor: Actor) => removeDomain({ ctx: as(actor), input: { ...suite.at(), domain: "mcp.acme.com" } }),
  ];
  for (const change of changes) expect(await refusalCode(change(viewer))).toBe("forbidden");
  const stranger = (await seedOrganization(suite.database.db)).owner;
  for (const use of [...changes, list]) expect(await refusalCode(use(stranger))).toBe("not_found");
  expect(await refusalCode(check("unknown.acme.com"))).toBe("not_found");
});

test("OPS-12 nobody gets a name whose owner shows another record, and a new owner takes it over", async () => {
  const first = await add("mcp.acme.com");
  const other = await seedProject(suite.database.db, suite.organization);
  const at = { orgSlug: suite.organization.slug, projectName: other.name, domain: "mcp.acme.com" };
  const second = await addDomain({ ctx: as(), input: at });
  expect(tokenOf(second)).not.toBe(tokenOf(first));
  const checkOther = () => checkDomain({ ctx: as(), input: at });
  texts["_towpath.mcp.acme.com"] = [tokenOf(first)];
  expect((await checkOther()).activeAt).toBeNull();
  expect((await check("mcp.acme.com")).activeAt).not.toBeNull();
  texts["_towpath.mcp.acme.com"] = [tokenOf(first), tokenOf(second)];
  expect((await checkOther()).records[1]?.problem).toBe(
    "Another server of this instance has this domain. Remove it there first.",
  );
  // The holder's last lookup doesn't count, only what the DNS has now.
  texts["_towpath.mcp.acme.com"] = null;
  expect((await check("mcp.acme.com")).activeAt).not.toBeNull();
  texts["_towpath.mcp.acme.com"] = [tokenOf(first), tokenOf(second)];
  expect((await checkOther()).activeAt).toBeNull();
  expect((await check("mcp.acme.com")).records[1]?.problem).toBeNull();
  texts["_towpath.mcp.acme.com"] = [tokenOf(second)];
  expect((await checkOther()).activeAt).not.toBeNull();
  expect((await list())[0]?.activeAt).toBeNull();
  expect((await actions()).at(-1)).toBe(
    `disconnected the domain mcp.acme.com from ${suite.project.name}, whose DNS record is gone`,
  );
});

test("OPS-12 the worker looks domains up when they are due; one without its record ends after a week, not while the DNS is silent", async () => {
  const asked = await add("mcp.acme.com");
  expect([await checkDue(), await checkDue()]).toEqual([1, 0]);
  later(60_000);
  texts["_towpath.mcp.acme.com"] = [tokenOf(asked)];
  expect(await checkDue()).toBe(1);
  const isActive = async () => (await list())[0]?.activeAt !== null;
  expect(await isActive()).toBe(true);
  later(3_600_000);
  expect(await checkDue()).toBe(0);
  texts["_towpath.mcp.acme.com"] = null;
  later(30 * dayMs);
  expect([await checkDue(), await isActive()]).toEqual([1, true]);
  expect((await list())[0]?.records[1]?.problem).toBe("The DNS didn't answer. It is asked again by itself.");
  texts["_towpath.mcp.acme.com"] = [tokenOf(asked)];
  later(dayMs);
  await checkDue();
  texts["_towpath.mcp.acme.com"] = [];
  later(6 * dayMs);
  expect([await checkDue(), await isActive()]).toEqual([1, true]);
  later(2 * dayMs);
  expect([await checkDue(), await isActive()]).toEqual([1, false]);
});

test("OPS-12 GW-5 tokens are issued for an active domain of a server with sign-in, as a resource of its own", async () => {
  const { db } = suite.database;
  const signedIn = await seedProject(db, suite.organization, { authMode: "towpath-cloud" });
  const input = { orgSlug: suite.organization.slug, projectName: signedIn.name, domain: "mcp.acme.com" };
  const asked = await addDomain({ ctx: as(), input });
  const url = "https://mcp.acme.com/mcp";
  const unknown = { oauthCode: "invalid_target" };
  await expect(requireResource(as(), url)).rejects.toMatchObject(unknown);
  texts["_towpath.mcp.acme.com"] = [tokenOf(asked)];
  await checkDomain({ ctx: as(), input });
  expect(await requireResource(as(), "https://MCP.acme.com/mcp/")).toEqual({ projectId: signedIn.id, url });
  for (const other of ["http://mcp.acme.com/mcp", "https://mcp.acme.com:8443/mcp", "https://mcp.acme.com/", `${url}?a`])
    await expect(requireResource(as(), other), other).rejects.toMatchObject(unknown);
  await db.update(domain).set({ activeAt: null }).where(eq(domain.name, "mcp.acme.com"));
  await expect(requireResource(as(), url)).rejects.toMatchObject(unknown);
});
