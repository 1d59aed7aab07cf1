import { createPrivateKey, generateKeyPairSync, randomUUID } from "node:crypto";
import { deriveKey, openWithKeyId } from "@towpath/crypto";
import { openTestDatabase } from "@towpath/db/testing";
import { createLocalJWKSet, decodeProtectedHeader, type JWK, jwtVerify, SignJWT } from "jose";
import pg from "pg";
import { beforeEach, expect, test } from "vitest";
import { createSigningKeys } from "./signing-keys.ts";

const secret = "a root secret for tests, of 32 characters or more";
const issuer = "https://towpath.example";
const audience = "https://echo.example/mcp";
const typ = "at+jwt";
const day = 86_400_000;

const database = openTestDatabase();
beforeEach(() => database.pool.query("DELETE FROM jwks"));

const keysAt = (now?: () => number) => createSigningKeys({ pool: database.pool, secret, issuer, ...(now && { now }) });
const claims = { sub: "user-1", aud: audience };
const count = async () => Number((await database.pool.query("SELECT count(*) FROM jwks")).rows[0].count);

test("PRJ-10 GW-5 a token verifies with its type, audience and issuer only, also by the published keys", async () => {
  const keys = keysAt();
  const { token, expiresAt } = await keys.sign({ typ, claims, ttlSeconds: 600 });
  expect(expiresAt.getTime() - Date.now()).toBeLessThanOrEqual(600_000);
  expect(await keys.verify(token, { typ, audience })).toMatchObject({ ...claims, iss: issuer });
  expect(await keysAt().verify(token, { typ, audience })).toMatchObject(claims);
  expect(await keys.verify(token, { typ: "towpath-admin+jwt", audience })).toBeNull();
  expect(await keys.verify(token, { typ, audience: "https://other.example/mcp" })).toBeNull();
  const foreign = createSigningKeys({ pool: database.pool, secret, issuer: "https://evil.example" });
  expect(await foreign.verify(token, { typ, audience })).toBeNull();
  const published = createLocalJWKSet((await keys.published()) as { keys: JWK[] });
  expect((await jwtVerify(token, published, { issuer, audience })).payload).toMatchObject(claims);
  expect(JSON.stringify(await keys.published())).not.toContain('"d"');
});

test("GW-5 changed, unsigned, expired and foreign tokens are refused", async () => {
  let offset = 0;
  const keys = keysAt(() => Date.now() + offset);
  const { token } = await keys.sign({ typ, claims, ttlSeconds: 600 });
  const [header = "", body = "", signature = ""] = token.split(".");
  const { kid = "" } = decodeProtectedHeader(token);
  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const stranger = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  const signedBy = (id: string) =>
    new SignJWT({ ...claims, iss: issuer })
      .setProtectedHeader({ alg: "ES256", typ, kid: id })
      .setIssuedAt()
      .setExpirationTime("5m")
      .sign(stranger);
  // The public key as an HMAC secret, which a verifier that trusts `alg` would accept.
  const publicKey = (await database.pool.query("SELECT public_key FROM jwks")).rows[0].public_key;
  const confused = await new SignJWT({ ...claims, iss: issuer })
    .setProtectedHeader({ alg: "HS256", typ, kid })
    .setIssuedAt()
    .setExpirationTime("5m")
    .sign(new TextEncoder().encode(publicKey));
  for (const bad of [
    `${encoded({ alg: "none", typ, kid })}.${body}.`,
    `${header}.${encoded({ ...claims, sub: "user-2", iss: issuer, iat: 1, exp: 9e9 })}.${signature}`,
    `${header}.${body}.`,
    await signedBy(kid),
    await signedBy(randomUUID()),
    confused,
    "nope",
    "",
  ]) {
    expect(await keys.verify(bad, { typ, audience })).toBeNull();
  }
  offset = 605_000;
  expect(await keys.verify(token, { typ, audience }), "clocks may differ").not.toBeNull();
  offset = 611_000;
  expect(await keys.verify(token, { typ, audience })).toBeNull();
});

test("GW-5 keys rotate: the next one is published before it signs, and the last one until its tokens have ended", async () => {
  let now = Date.now();
  const keys = keysAt(() => now);
  const kidOf = async () => decodeProtectedHeader((await keys.sign({ typ, claims, ttlSeconds: 3600 })).token).kid ?? "";
  const publishedIds = async () => (await keys.published()).keys.map(({ kid }) => kid);
  const first = await kidOf();
  now += 29 * day;
  expect(await publishedIds()).toEqual([first]);
  now += 1.001 * day;
  expect(await kidOf()).toBe(first);
  const [, second = ""] = await publishedIds();
  expect(second).not.toBe("");
  now += 3_700_000;
  expect(await kidOf()).toBe(second);
  expect(await publishedIds()).toEqual([first, second]);
  // Of clients that don't renew theirs.
  const { token: lasting } = await keys.sign({ typ, claims, ttlSeconds: 30 * day });
  now += 29.9 * day;
  expect(await keys.verify(lasting, { typ, audience })).toMatchObject(claims);
  expect((await publishedIds()).slice(0, 2)).toEqual([first, second]);
  now += 1.1 * day;
  expect(await keys.verify(lasting, { typ, audience })).toBeNull();
  expect(await publishedIds()).not.toContain(first);
});

test("CAP-3 only an access token lives longer than an hour, and none longer than its key", async () => {
  let now = Date.now();
  const keys = keysAt(() => now);
  const lifeOf = async (of: Parameters<typeof keys.sign>[0]["typ"]) =>
    (await keys.sign({ typ: of, claims, ttlSeconds: 90 * day })).expiresAt.getTime() - now;
  expect(Math.abs((await lifeOf(typ)) - 30 * day)).toBeLessThan(1000);
  for (const other of ["towpath-admin+jwt", "towpath-user+jwt", "towpath-identity+jwt"] as const)
    expect(await lifeOf(other)).toBeLessThanOrEqual(3_600_000);
  // A key of a release before lives 31 days.
  await database.pool.query("UPDATE jwks SET expires_at = created_at + interval '31 days'");
  now += 10 * day;
  expect(
    Math.abs(
      (await keysAt(() => now).sign({ typ, claims, ttlSeconds: 90 * day })).expiresAt.getTime() - now - 21 * day,
    ),
  ).toBeLessThan(1000);
});

test("GW-5 processes that start at the same time make one key", async () => {
  const signed = await Promise.all(
    Array.from({ length: 6 }, () =>
      keysAt()
        .sign({ typ, claims, ttlSeconds: 60 })
        .then(({ token }) => token),
    ),
  );
  expect(await count()).toBe(1);
  const verifier = keysAt();
  for (const token of signed) expect(await verifier.verify(token, { typ, audience })).toMatchObject(claims);
});

test("GW-5 a key that another process made is found, and known keys verify without the database", async () => {
  const pool = new pg.Pool({ connectionString: database.url });
  const verifier = createSigningKeys({ pool, secret, issuer, now: Date.now });
  expect(
    await verifier.verify((await keysAt().sign({ typ, claims, ttlSeconds: 60 })).token, { typ, audience }),
  ).toEqual(expect.objectContaining(claims));
  await pool.end();
  const { token } = await keysAt().sign({ typ, claims, ttlSeconds: 60 });
  expect(await verifier.verify(token, { typ, audience })).toMatchObject(claims);
  const unread = createSigningKeys({ pool, secret, issuer });
  await expect(unread.verify(token, { typ, audience })).rejects.toThrow();
  await expect(unread.sign({ typ, claims, ttlSeconds: 60 })).rejects.toThrow();
});

test("KEY-2 private keys are sealed in the database, each for its own id", async () => {
  const keys = keysAt();
  const { token } = await keys.sign({ typ, claims, ttlSeconds: 60 });
  const { rows } = await database.pool.query("SELECT id, private_key FROM jwks");
  const [{ id, private_key: sealed }] = rows;
  expect(sealed).not.toContain("{");
  const opened = JSON.parse(openWithKeyId(deriveKey(secret, "signing-keys"), sealed, `jwks ${id}`));
  expect(createPrivateKey({ key: opened, format: "jwk" }).asymmetricKeyType).toBe("ec");
  await database.pool.query("UPDATE jwks SET id = gen_random_uuid()");
  await expect(keysAt().sign({ typ, claims, ttlSeconds: 60 })).rejects.toThrow();
  expect(await keysAt().verify(token, { typ, audience })).toBeNull();
});

test("KEY-2 while the secret is being replaced, processes with either one sign, and verify each other's tokens", async () => {
  const earlier = keysAt();
  const later = createSigningKeys({ pool: database.pool, secret: `${secret}, replaced`, issuer });
  const before = await earlier.sign({ typ, claims, ttlSeconds: 600 });
  for (let round = 0; round < 3; round++) {
    const tokens = [
      await later.sign({ typ, claims, ttlSeconds: 600 }),
      await keysAt().sign({ typ, claims, ttlSeconds: 60 }),
    ];
    for (const { token } of [before, ...tokens])
      for (const keys of [keysAt(), later]) expect(await keys.verify(token, { typ, audience })).toMatchObject(claims);
  }
  // One key of each, however often they sign.
  expect(await count()).toBe(2);
});
