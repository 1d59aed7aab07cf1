import { newId } from "@towpath/core/ids";
import { auditLog, member } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { beforeAll, expect, test } from "vitest";
import { sharedSite } from "./site.ts";
import { callServerFunction, type Member, newVisitor, seededMember, type Visitor } from "./visitor.ts";

const site = sharedSite();
let owner: Member;
let stranger: Member;
beforeAll(async () => {
  [owner, stranger] = [await seededMember(site.url, site.db), await seededMember(site.url, site.db)];
});

const call = (visitor: Visitor, id: string, data: unknown) => callServerFunction(visitor, id, "POST", data);
const jwtIn = (text: string) => /eyJ[\w-]+\.[\w-]+\.[\w-]+/.exec(text)?.[0] ?? "";

test("ORG-5 signed-in people get a token that widgets verify by the published keys, for a minute", async () => {
  const { status, text } = await call(owner.visitor, "organization-settings.getWidgetToken", undefined);
  expect(status).toBe(200);
  const keys = createRemoteJWKSet(new URL(`${site.url}/.well-known/jwks.json`));
  const audience = `towpath:organization:${owner.organization.id}`;
  const options = { issuer: site.url, audience, typ: "towpath-widget+jwt" };
  const { payload } = await jwtVerify(jwtIn(text), keys, options);
  expect(payload).toMatchObject({ sub: owner.userId, organization: owner.organization.id, role: "owner" });
  expect(payload.permissions).toContain("member.manage");
  expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(60);
  const authorization = `Bearer ${jwtIn(text)}`;
  const path = `/api/v1/organizations/${owner.organization.slug}/members`;
  expect((await fetch(`${site.url}${path}`, { headers: { authorization } })).status).toBe(401);
});

test("ORG-5 the anonymous get a null token and the error Not authenticated", async () => {
  const { status, text } = await call(newVisitor(site.url), "organization-settings.getWidgetToken", undefined);
  expect(status).toBe(200);
  expect([text.includes("Not authenticated"), jwtIn(text)]).toEqual([true, ""]);
});

test("ORG-5 people removed from their only organization get none", async () => {
  const former = await seededMember(site.url, site.db);
  await site.db.delete(member).where(eq(member.userId, former.userId));
  const { text } = await call(former.visitor, "organization-settings.getWidgetToken", undefined);
  expect([text.includes("No organization"), jwtIn(text)]).toEqual([true, ""]);
});

test("ORG-11 profiles by organization and by ids, over the wire", async () => {
  const { id } = owner.organization;
  const own = await call(owner.visitor, "members.getOrganizationProfiles", { organizationId: id });
  for (const part of [owner.userId, "Ada", "firstName", "lastName", "profilePictureUrl", "@example.com"])
    expect(own.text).toContain(part);
  const userIds = [owner.userId, stranger.userId];
  const byIds = await call(owner.visitor, "members.getProfilesByIds", { userIds });
  expect([byIds.text.includes(owner.userId), byIds.text.includes(stranger.userId)]).toEqual([true, false]);
  const foreign = await call(stranger.visitor, "members.getOrganizationProfiles", { organizationId: id });
  expect(foreign.status).toBe(403);
  for (const name of ["getOrganizationProfiles", "getProfilesByIds"]) {
    const data = { organizationId: id, userIds };
    expect((await call(newVisitor(site.url), `members.${name}`, data)).status).toBe(401);
  }
});

test("ORG-10 what the operator does by REST is in the log, with their address", async () => {
  const { slug } = owner.organization;
  const authorization = `Bearer ${site.operatorToken}`;
  const invited = await fetch(`${site.url}/api/v1/organizations/${slug}/invitations`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json" },
    body: JSON.stringify({ emails: ["grace@example.com", "linus@example.com"], role: "viewer" }),
  });
  const { invited: made } = (await invited.json()) as { invited: { link: string; notSent: string }[] };
  expect(made[0]?.link).toContain(`${site.url}/invitations/`);
  expect(made[0]?.notSent).toBe("This instance sends no email.");
  const page = await fetch(`${site.url}/api/v1/organizations/${slug}/audit-log?limit=1`, {
    headers: { authorization },
  });
  const { entries, nextCursor } = (await page.json()) as { entries: object[]; nextCursor: string | null };
  expect(entries).toMatchObject([
    { action: "invitation.create", actor: { name: "Operator" }, ipAddress: expect.any(String) },
  ]);
  expect(nextCursor).not.toBeNull();
});

test("ORG-10 the log is exported as CSV and JSON Lines, in which names are neither formulas nor columns", async () => {
  const { slug, id } = stranger.organization;
  const name = '=HYPERLINK("http://evil"), "x"';
  await site.db.insert(auditLog).values([
    {
      id: newId(),
      organizationId: id,
      actor: `user:${stranger.userId}`,
      action: "strange",
      subject: name,
      ipAddress: "192.0.2.4",
      createdAt: new Date(0),
    },
    { id: newId(), organizationId: id, actor: "operator", action: name, detail: { name }, createdAt: new Date(1) },
  ]);
  const read = async (query: string) => {
    const response = await stranger.visitor.request(`/api/organizations/${slug}/audit-log?${query}`, {});
    return { response, lines: (await response.text()).trimEnd().split(/\r?\n/) };
  };
  const csv = await read("format=csv&to=2000-01-01T00:00:00Z");
  expect(csv.response.headers.get("content-type")).toContain("text/csv");
  expect(csv.response.headers.get("content-disposition")).toMatch(/^attachment; filename="audit-log-[\w-]+\.csv"$/);
  expect(csv.lines[0]).toBe('"Time (UTC)","Who","Email","What","Server","From","Action","Details"');
  expect(csv.lines[1]).toContain(`"'=HYPERLINK(""http://evil""), ""x"""`);
  expect(csv.lines[2]).toMatch(
    /^"1970-01-01T00:00:00.000Z","Ada Lovelace","[^"]+@example\.com","strange","","192\.0\.2\.4","strange",""$/,
  );
  const jsonl = await read("format=jsonl&to=2000-01-01T00:00:00Z");
  expect(jsonl.lines.map((line) => JSON.parse(line).action)).toEqual([name, "strange"]);
  expect((await read("format=xml")).response.status).toBe(422);
  const filtered = await read(`format=jsonl&to=2000-01-01T00:00:00Z&actor=user:${stranger.userId}`);
  expect(filtered.lines).toHaveLength(1);
  for (const [visitor, status] of [
    [newVisitor(site.url), 401],
    [owner.visitor, 403],
  ] as const)
    expect((await visitor.request(`/api/organizations/${slug}/audit-log`, {})).status).toBe(status);
});
