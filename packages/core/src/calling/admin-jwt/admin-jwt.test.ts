import { createAdminTokens, createSigningKeys, projectAudience, verifyProjectJwt } from "@towpath/auth/credentials";
import { auditLog } from "@towpath/db/schema";
import { and, eq, like } from "drizzle-orm";
import { beforeEach, expect, test } from "vitest";
import type { Actor } from "../../context/index.ts";
import { refusalCode, seedOrganization } from "../../testing/index.ts";
import { openProjectSuite } from "../../testing/project-suite.ts";
import { clearAdminJwtCache, getAdminJwt, getAdminJwtCacheStats } from "./index.ts";

const secret = "a root secret for tests, of 32 characters or more";
const issuer = "https://towpath.example";
const suite = openProjectSuite();
let projectId: string;
/** Milliseconds by which the clock of the cache is ahead. */
let ahead = 0;

beforeEach(() => {
  ahead = 0;
  projectId = suite.project.id;
});

/** One process that issues tokens. */
function processOf() {
  const now = () => Date.now() + ahead;
  const keys = createSigningKeys({ pool: suite.database.pool, secret, issuer, now });
  const adminTokens = createAdminTokens(keys, now);
  const as = (actor: Actor) => ({
    ctx: suite.as(actor, { adminTokens }),
    input: { projectId },
  });
  return { keys, as };
}

/** Header or claims of a token. */
const partOf = (token: string, at: 0 | 1) =>
  JSON.parse(Buffer.from(token.split(".")[at] ?? "", "base64url").toString());
const idOf = (actor: Actor) => (actor.kind === "user" ? actor.userId : null);

test("PRJ-10 an admin gets a token for this project and as themselves, which ends within 15 minutes", async () => {
  const { keys, as } = processOf();
  const { token, expiresAt, isCached } = await getAdminJwt(as(suite.organization.owner));
  expect(isCached).toBe(false);
  expect(partOf(token, 0)).toMatchObject({ alg: "ES256", typ: "towpath-admin+jwt" });
  const claims = partOf(token, 1);
  expect(claims).toMatchObject({
    iss: issuer,
    aud: projectAudience(projectId),
    sub: idOf(suite.organization.owner),
    generation: 0,
  });
  expect(claims.exp - claims.iat).toBe(900);
  expect(new Date(expiresAt).getTime()).toBe(claims.exp * 1000);
  expect(await verifyProjectJwt(keys, token)).toEqual({
    principal: "admin",
    projectId,
    userId: idOf(suite.organization.owner),
    generation: 0,
    expiresAt: claims.exp * 1000,
  });
  const ofOperator = await getAdminJwt(as({ kind: "operator", ipAddress: null }));
  expect(await verifyProjectJwt(keys, ofOperator.token)).toMatchObject({ principal: "admin", userId: null });
});

test("PRJ-10 a token comes from the cache while it lasts, to its own user only, and the statistics say so", async () => {
  const { as } = processOf();
  const admin = await suite.organization.join("admin");
  const stats = () => getAdminJwtCacheStats(as(suite.organization.owner));
  expect(await stats()).toEqual({ hits: 0, misses: 0, size: 0 });
  const first = await getAdminJwt(as(suite.organization.owner));
  expect(await getAdminJwt(as(suite.organization.owner))).toEqual({ ...first, isCached: true });
  const other = await getAdminJwt(as(admin));
  expect(other).toMatchObject({ isCached: false });
  expect(other.token).not.toBe(first.token);
  expect(await stats()).toEqual({ hits: 1, misses: 2, size: 2 });
  // With less than five minutes left it would end in the hands of whoever gets it.
  ahead = 11 * 60_000;
  expect(await stats()).toEqual({ hits: 1, misses: 2, size: 0 });
  expect(await getAdminJwt(as(suite.organization.owner))).toMatchObject({ isCached: false });
  expect(await stats()).toEqual({ hits: 1, misses: 3, size: 1 });
  const audits = await suite.database.db
    .select({ action: auditLog.action, detail: auditLog.detail })
    .from(auditLog)
    .where(and(eq(auditLog.projectId, projectId), like(auditLog.action, "adminJwt.%")));
  expect(audits.map(({ action }) => action)).toEqual(["adminJwt.issue", "adminJwt.issue", "adminJwt.issue"]);
  expect(JSON.stringify(audits)).not.toContain(first.token.slice(-20));
});

test("PRJ-10 clearing the cache revokes what was issued, in every process", async () => {
  const [one, two] = [processOf(), processOf()];
  const before = [
    await getAdminJwt(one.as(suite.organization.owner)),
    await getAdminJwt(two.as(suite.organization.owner)),
  ];
  expect(await clearAdminJwtCache(one.as(suite.organization.owner))).toEqual({ hits: 0, misses: 0, size: 0 });
  const after = [
    await getAdminJwt(one.as(suite.organization.owner)),
    await getAdminJwt(two.as(suite.organization.owner)),
  ];
  expect(after.map(({ isCached }) => isCached)).toEqual([false, false]);
  const generations = [...before, ...after].map(({ token }) => partOf(token, 1).generation);
  expect(generations).toEqual([0, 0, 1, 1]);
  const [cleared] = await suite.database.db.select().from(auditLog).where(eq(auditLog.action, "adminJwt.clearCache"));
  expect(cleared).toMatchObject({ projectId, organizationId: suite.organization.id });
});

test("PRJ-10 members, viewers and strangers get no admin token and see nothing of its cache", async () => {
  const { as } = processOf();
  const stranger = (await seedOrganization(suite.database.db)).owner;
  for (const verb of [getAdminJwt, clearAdminJwtCache, getAdminJwtCacheStats]) {
    expect(await refusalCode(verb(as(await suite.organization.join("member"))))).toBe("forbidden");
    expect(await refusalCode(verb(as(await suite.organization.join("viewer"))))).toBe("forbidden");
    expect(await refusalCode(verb(as(stranger)))).toBe("not_found");
  }
});
