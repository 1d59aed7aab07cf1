import { randomUUID } from "node:crypto";
import { createTestDatabase, openTestDatabase } from "@towpath/db/testing";
import { decodeJwt, decodeProtectedHeader, type JWTPayload, SignJWT } from "jose";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
  createApiKeyChecker,
  createMembershipChecker,
  createSigningKeys,
  currentApiKeys,
  currentMemberships,
  hashApiKey,
  isWellFormedApiKey,
  memberChannel,
  newApiKey,
  projectAudience,
  signAdminJwt,
  signCallerName,
  signUserJwt,
  verifyApiKey,
  verifyCallerName,
  verifyProjectJwt,
} from "./index.ts";

const database = openTestDatabase();

async function storeKey(changes: { enabled?: boolean; expiresAt?: Date } = {}) {
  const made = newApiKey();
  const [keyId, organizationId] = [randomUUID(), randomUUID()];
  await database.pool.query(
    "INSERT INTO apikey (id, key, start, reference_id, enabled, expires_at) VALUES ($1, $2, $3, $4, $5, $6)",
    [keyId, made.hash, made.start, organizationId, changes.enabled ?? true, changes.expiresAt ?? null],
  );
  return { ...made, keyId, organizationId };
}

describe("API keys", () => {
  test("KEY-3 a key has a prefix, 256 random bits and a checksum; only its hash is stored", () => {
    const { key, hash, start } = newApiKey();
    expect(key).toMatch(/^tp_[0-9A-Za-z]{49}$/);
    expect(hash).toBe(hashApiKey(key));
    expect(hash).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(key.startsWith(start)).toBe(true);
    expect(newApiKey().key).not.toBe(key);
    expect(isWellFormedApiKey(key)).toBe(true);
    const last = key.at(-1) === "0" ? "1" : "0";
    const broken = [
      `${key.slice(0, -1)}${last}`,
      `${key}0`,
      key.slice(1),
      key.replace("tp_", "tq_"),
      "",
      `tp_${"0".repeat(48)}!`,
    ];
    expect(broken.filter(isWellFormedApiKey)).toEqual([]);
  });

  test("GW-4 an enabled key authenticates its organization; unknown, disabled and expired keys are invalid", async () => {
    const good = await storeKey({ expiresAt: new Date(Date.now() + 60_000) });
    expect(await verifyApiKey(database.pool, good.key)).toEqual({
      keyId: good.keyId,
      organizationId: good.organizationId,
      userId: null,
      projectIds: null,
      mayManage: false,
    });
    const { rows } = await database.pool.query("SELECT last_request FROM apikey WHERE id = $1", [good.keyId]);
    expect(rows[0].last_request).not.toBeNull();
    expect(await verifyApiKey(database.pool, newApiKey().key)).toBeNull();
    expect(await verifyApiKey(database.pool, (await storeKey({ enabled: false })).key)).toBeNull();
    expect(await verifyApiKey(database.pool, (await storeKey({ expiresAt: new Date(Date.now() - 1) })).key)).toBeNull();
  });

  test("GW-4 the database announces disabled, expired and deleted keys, but not each use", async () => {
    const listener = await database.pool.connect();
    let received = 0;
    listener.on("notification", () => {
      received += 1;
    });
    await listener.query("LISTEN towpath_apikey");
    const receivedAfter = async (statement: string) => {
      received = 0;
      await database.pool.query(statement);
      // Notifications of earlier commits arrive before this result.
      await listener.query("SELECT 1");
      return received;
    };
    const used = await storeKey();
    expect(await verifyApiKey(database.pool, used.key)).not.toBeNull();
    expect(await receivedAfter("UPDATE apikey SET last_request = now(), updated_at = now()")).toBe(0);
    expect(await receivedAfter("UPDATE apikey SET enabled = false")).toBe(1);
    expect(await receivedAfter("UPDATE apikey SET expires_at = now()")).toBe(1);
    expect(await receivedAfter("DELETE FROM apikey")).toBe(1);
    listener.release(true);
  });

  test("GW-4 a cached key is valid until its cache time, its expiry or its revocation", async () => {
    let now = Date.now();
    const expiring = await storeKey({ expiresAt: new Date(now + 10_000) });
    const lasting = await storeKey();
    const checker = createApiKeyChecker(database.pool, { now: () => now });
    expect(await checker.verify(expiring.key)).not.toBeNull();
    expect(await checker.verify(lasting.key)).not.toBeNull();
    await database.pool.query("DELETE FROM apikey");
    now += 9000;
    expect(await checker.verify(expiring.key)).not.toBeNull();
    now += 2000;
    expect(await checker.verify(expiring.key)).toBeNull();
    expect(await checker.verify(lasting.key)).not.toBeNull();
    checker.cache.changed();
    expect(await checker.verify(lasting.key)).toBeNull();
  });

  test("GW-4 setting the clock back does not extend the cache time", async () => {
    const key = await storeKey();
    const [wallClock, clock] = [vi.spyOn(Date, "now"), vi.spyOn(performance, "now")];
    for (const each of [wallClock, clock]) onTestFinished(() => each.mockRestore());
    const checker = createApiKeyChecker(database.pool, { cacheMs: 50 });
    expect(await checker.verify(key.key)).not.toBeNull();
    await database.pool.query("DELETE FROM apikey");
    wallClock.mockReturnValue(Date.now() - 3_600_000);
    clock.mockReturnValue(performance.now() + 60);
    expect(await checker.verify(key.key)).toBeNull();
  });

  test("GW-4 a result read before a revocation is not cached after it", async () => {
    const key = await storeKey();
    const checker = createApiKeyChecker(database.pool);
    const early = checker.verify(key.key);
    checker.cache.changed();
    await early;
    await database.pool.query("UPDATE apikey SET enabled = false WHERE id = $1", [key.keyId]);
    expect(await checker.verify(key.key)).toBeNull();
  });

  test("GW-4 when the database is unavailable the check throws", async () => {
    const gone = await createTestDatabase();
    await gone.close();
    const { Pool } = await import("pg").then((module) => module.default);
    const pool = new Pool({ connectionString: gone.url });
    await expect(createApiKeyChecker(pool).verify(newApiKey().key)).rejects.toThrow();
    await pool.end();
  });
});

test("GW-4 of the credentials of open responses only valid ones remain: enabled keys, and members with their roles", async () => {
  const [good, disabled, expired] = [
    await storeKey(),
    await storeKey({ enabled: false }),
    await storeKey({ expiresAt: new Date(Date.now() - 1) }),
  ];
  const moved = { keyId: good.keyId, organizationId: randomUUID() };
  const kept = { keyId: good.keyId, organizationId: good.organizationId };
  expect(await currentApiKeys(database.pool, [kept, disabled, expired, moved])).toEqual([kept]);

  const organizationId = randomUUID();
  await database.pool.query("INSERT INTO organization (id, name, slug) VALUES ($1, 'A', $1::uuid::text)", [
    organizationId,
  ]);
  const memberOf = async (role: string) => {
    const userId = randomUUID();
    await database.pool.query(`INSERT INTO "user" (id, name, email) VALUES ($1, 'U', $1::uuid::text)`, [userId]);
    await database.pool.query("INSERT INTO member (id, organization_id, user_id, role) VALUES ($1, $2, $3, $4)", [
      randomUUID(),
      organizationId,
      userId,
      role,
    ]);
    return { userId, organizationId };
  };
  const [member, viewer] = [await memberOf("member"), await memberOf("viewer")];
  const stranger = { userId: member.userId, organizationId: randomUUID() };
  const found = { ...member, role: "member", email: member.userId, emailVerified: false };
  const watching = { ...viewer, role: "viewer", email: viewer.userId, emailVerified: false };
  const remaining = await currentMemberships(database.pool, [member, viewer, stranger]);
  expect(remaining.toSorted((a, b) => a.role.localeCompare(b.role))).toEqual([found, watching]);
  const members = createMembershipChecker(database.pool, { cacheMs: 60_000 });
  expect([await members.find(member), await members.find(viewer), await members.find(stranger)]).toEqual([
    found,
    watching,
    null,
  ]);
  await database.pool.query("UPDATE member SET role = 'admin' WHERE user_id = $1", [member.userId]);
  expect(await members.find(member)).toEqual(found);
  members.cache.changed();
  expect(await members.find(member)).toMatchObject({ role: "admin" });
  await database.pool.query("DELETE FROM member WHERE user_id = $1", [member.userId]);
  members.cache.changed();
  expect(await members.find(member)).toBeNull();
});

test("GW-4 the database announces changed and ended memberships", async () => {
  const listener = await database.pool.connect();
  const channels: string[] = [];
  listener.on("notification", ({ channel }) => channels.push(channel));
  await listener.query(`LISTEN ${memberChannel}`);
  await database.pool.query("UPDATE member SET role = role");
  await database.pool.query("DELETE FROM member");
  // Notifications of earlier commits arrive before this result.
  await listener.query("SELECT 1");
  listener.release(true);
  expect(channels).toEqual([memberChannel, memberChannel]);
});

describe("tokens for a project", () => {
  const secret = "s".repeat(32);
  const issuer = "https://towpath.example";
  const projectId = randomUUID();
  const keys = () => createSigningKeys({ pool: database.pool, secret, issuer });

  test("PRJ-10 GW-4 a token names its project and whom it authenticates", async () => {
    const admin = await signAdminJwt(keys(), { projectId, userId: "user-1", generation: 3 });
    expect(admin.expiresAt.getTime() - Date.now()).toBeLessThanOrEqual(900_000);
    expect(await verifyProjectJwt(keys(), admin.token)).toEqual({
      principal: "admin",
      projectId,
      userId: "user-1",
      generation: 3,
      expiresAt: admin.expiresAt.getTime(),
    });
    const nobody = await signAdminJwt(keys(), { projectId, userId: null, generation: 0 });
    expect(await verifyProjectJwt(keys(), nobody.token)).toMatchObject({ principal: "admin", userId: null });
    const user = await signUserJwt(keys(), { projectId, userId: "user-2" });
    expect(user.expiresAt.getTime() - Date.now()).toBeLessThanOrEqual(300_000);
    expect(await verifyProjectJwt(keys(), user.token)).toEqual({
      principal: "user",
      projectId,
      userId: "user-2",
      expiresAt: user.expiresAt.getTime(),
    });
  });

  test("PRJ-4 a caller's name is for one project and a minute, opens nothing, and is null when it can't be checked", async () => {
    const token = await signCallerName(keys(), { projectId, userId: "user-3" });
    expect(await verifyCallerName(keys(), { token, projectId })).toBe("user-3");
    expect(decodeJwt(token)).toMatchObject({ sub: "user-3", exp: (decodeJwt(token).iat ?? 0) + 60 });
    expect(await verifyCallerName(keys(), { token, projectId: randomUUID() })).toBeNull();
    expect(await verifyProjectJwt(keys(), token)).toBeNull();
    const user = await signUserJwt(keys(), { projectId, userId: "user-3" });
    expect(await verifyCallerName(keys(), { token: user.token, projectId })).toBeNull();
    const pool = { query: () => Promise.reject(new Error("unavailable")) } as never;
    const cut = createSigningKeys({ pool, secret, issuer });
    expect(await verifyCallerName(cut, { token, projectId })).toBeNull();
  });

  test("GW-4 changed tokens and those of another kind, issuer or audience are no tokens for a project", async () => {
    const { token } = await signUserJwt(keys(), { projectId, userId: "u" });
    const [header = "", claims = "", signature = ""] = token.split(".");
    const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const aud = projectAudience(projectId);
    const admin = { typ: "towpath-admin+jwt", kid: decodeProtectedHeader(token).kid };
    const sign = (typ: "at+jwt" | "towpath-admin+jwt" | "towpath-identity+jwt", claims: JWTPayload) =>
      keys().sign({ typ, claims, ttlSeconds: 60 });
    const foreign = createSigningKeys({ pool: database.pool, secret, issuer: "https://evil.example" });
    for (const bad of [
      "nope",
      `${token}x`,
      // A user's token whose type was changed to admin, and an unsigned one.
      `${encoded({ ...admin, alg: "ES256" })}.${claims}.${signature}`,
      `${encoded({ ...admin, alg: "none" })}.${encoded({ aud, iss: issuer, iat: 1, exp: 9e9, generation: 0 })}.`,
      `${header}.${encoded({ ...decodeJwt(token), sub: "admin" })}.${signature}`,
      (await sign("at+jwt", { aud, sub: "u" })).token,
      (await sign("towpath-identity+jwt", { aud, sub: "u" })).token,
      (await sign("towpath-admin+jwt", { aud: [aud], generation: 0 })).token,
      (await sign("towpath-admin+jwt", { aud: "https://echo.example/mcp", generation: 0 })).token,
      // What versions before the rotating keys issued: HS256 with a key derived from the root secret.
      await new SignJWT({ principal: "admin" })
        .setProtectedHeader({ alg: "HS256", typ: "towpath-admin+jwt" })
        .setIssuer("towpath")
        .setAudience(projectId)
        .setIssuedAt()
        .setExpirationTime("1h")
        .sign(new TextEncoder().encode(secret)),
      (await signAdminJwt(foreign, { projectId, userId: null, generation: 0 })).token,
    ]) {
      expect([bad, await verifyProjectJwt(keys(), bad)]).toEqual([bad, null]);
    }
  });
});
