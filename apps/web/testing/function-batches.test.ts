import { toJSONAsync } from "seroval";
import { beforeAll, expect, test } from "vitest";
import type { BatchLine } from "../src/http/batched-fetch.ts";
import { sharedSite } from "./site.ts";
import { callServerFunction, type Member, newVisitor, seededMember, type Visitor } from "./visitor.ts";

const site = sharedSite();
let owner: Member;
let orgSlug: string;

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  orgSlug = owner.organization.slug;
});

const headers = { "content-type": "application/json", "sec-fetch-site": "same-origin" };
const post = (visitor: Visitor, body: unknown, more: Record<string, string> = {}) =>
  visitor.request("/_serverFn/batch", { method: "POST", body: JSON.stringify(body), headers: { ...headers, ...more } });
const call = async (id: string, data: unknown) =>
  `/_serverFn/${id}?payload=${encodeURIComponent(JSON.stringify(await toJSONAsync({ data })))}`;

async function linesOf(response: Response): Promise<readonly BatchLine[]> {
  const lines: BatchLine[] = (await response.text())
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  return lines.toSorted((a, b) => a.at - b.at);
}

test("CAP-7 calls share a request and are answered as if each came alone", async () => {
  const calls = [
    await call("servers.getServers", { orgSlug }),
    await call("members.getMembers", { orgSlug: "somebody-elses" }),
    "/_serverFn/no.such",
    await call("members.getMembers", { orgSlug }),
  ];
  const response = await post(owner.visitor, calls);
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/x-ndjson"]);
  expect(response.headers.get("cache-control")).toBe("private, no-store");
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  const lines = await linesOf(response);
  const alone = await callServerFunction(owner.visitor, "members.getMembers", "GET", { orgSlug });
  expect(lines.map(({ status }) => status)).toEqual([200, 403, 404, alone.status]);
  expect(lines[3]?.body).toBe(alone.text);
  expect(lines[0]?.headers).toContainEqual(["x-tss-serialized", "true"]);
});

test("CAP-7 a batch shows strangers, and other sites, no more than calls do, and changes nothing", async () => {
  const calls = [await call("members.getMembers", { orgSlug })];
  const [stranger] = await linesOf(await post(newVisitor(site.url), calls));
  expect(stranger?.status).toBe(
    (await callServerFunction(newVisitor(site.url), "members.getMembers", "GET", { orgSlug })).status,
  );
  const [elsewhere] = await linesOf(await post(owner.visitor, calls, { "sec-fetch-site": "cross-site" }));
  expect(elsewhere?.status).toBe(403);
  const [change] = await linesOf(
    await post(owner.visitor, [await call("organization-settings.removeOrganization", { orgSlug })]),
  );
  expect(change?.status).toBeGreaterThanOrEqual(400);
});

test.each([
  ["no list", {}],
  ["an empty list", []],
  ["too many", Array.from({ length: 21 }, () => "/_serverFn/servers.getServers")],
  ["another path", ["/api/v1/caller"]],
  ["another site", ["//example.com/_serverFn/servers.getServers"]],
  ["itself", ["/_serverFn/batch"]],
  ["no text", [1]],
])("CAP-7 a batch of %s is refused", async (_what, body) => {
  expect((await post(owner.visitor, body)).status).toBe(400);
});
