import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomUUID } from "node:crypto";
import { deriveKey, openWithKeyId, sealWithKeyId } from "@towpath/crypto";
import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify, SignJWT } from "jose";
import type { Pool } from "pg";

/** The type of each kind of token (JWS header `typ`), so that none is accepted as another (RFC 8725, section 3.11). */
type TokenType =
  | "at+jwt"
  | "towpath-admin+jwt"
  | "towpath-user+jwt"
  | "towpath-check+jwt"
  | "towpath-caller+jwt"
  | "towpath-identity+jwt"
  | "towpath-widget+jwt";

/** A public key as published in the JWK set (RFC 7517). */
type PublishedKey = Readonly<Record<string, unknown>> & { readonly kid: string };

/** Signs and verifies the tokens of one instance with the rotating keys of the table `jwks` (ES256). */
export type SigningKeys = {
  /** Adds `iss`, `iat` and `exp`. @throws when the database is unavailable and no key has been read yet */
  sign(token: {
    readonly typ: TokenType;
    readonly claims: JWTPayload;
    readonly ttlSeconds: number;
  }): Promise<{ readonly token: string; readonly expiresAt: Date }>;
  /**
   * The claims of a valid token of this instance: signature, type, issuer, audience and expiry were checked. Null for
   * any other token. Keys that were read before are used while the database is unavailable.
   *
   * @throws when the database is unavailable and the token's key is unknown; the caller must then refuse
   */
  verify(token: string, expected: { readonly typ: TokenType; readonly audience: string }): Promise<JWTPayload | null>;
  /** The public keys, for verification in a process that can't read the database. */
  save(): readonly SavedKey[];
  /** Takes over another process's `save`, unless keys have been read. They are used until they can be. */
  restore(saved: readonly SavedKey[]): void;
  /** The JWK set to publish: every key whose tokens may still be valid, and the next one. */
  published(): Promise<{ readonly keys: readonly PublishedKey[] }>;
};

/** `publicKey`: a JWK as JSON. Times in milliseconds since 1970. */
export type SavedKey = {
  readonly id: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly publicKey: string;
};

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** A key is published this long before it signs, because others cache the published set. */
const publishedBeforeMs = hourMs;
/** The next key is created when the newest one is this old. */
const rotateAfterMs = 30 * dayMs;
/** From its creation. Leaves 31 days for its last tokens, of which some live 30 days. */
const keyLifeMs = rotateAfterMs + publishedBeforeMs + 31 * dayMs;
/** How long keys are used before the table is read again. */
const cacheMs = 5 * 60_000;
/** A token with an unknown key id reads the table at most this often. */
const unknownKeyMs = 5000;
/** How long to wait for a database that does not answer while keys are known, and how long to pause after that. */
const timeoutMs = 500;
const retryMs = 1000;
/** Clocks of the machines that issue and check tokens may differ by this many seconds. */
const leewaySeconds = 10;
/** No token lives longer, but for access tokens of clients that don't renew them. */
const maxTtlSeconds = 3600;
const maxSecondsOf = (typ: TokenType) => (typ === "at+jwt" ? 30 * 86_400 : maxTtlSeconds);

type SigningKey = {
  readonly id: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly publicKey: KeyObject;
  readonly sealedPrivateKey: string;
};

type Settings = {
  readonly pool: Pool;
  /** The instance's root secret, from which the key that seals private keys is derived. */
  readonly secret: string;
  /** Origin of TOWPATH_URL: `iss` of every token. */
  readonly issuer: string;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
};

/** Connects to nothing before the first call. The first call that finds no key creates one. */
export function createSigningKeys({ pool, secret, issuer, now = Date.now }: Settings): SigningKeys {
  const sealing = deriveKey(secret, "signing-keys");
  /** Keys of processes with an earlier or later secret verify only: see "Keys" in docs/operating.md. */
  const isOurs = ({ sealedPrivateKey }: SigningKey) => sealedPrivateKey.startsWith(`${sealing.id}.`);
  let read: { readonly keys: readonly SigningKey[]; readonly at: number } | undefined;
  let reading: Promise<readonly SigningKey[]> | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;

  const readKeys = () => {
    reading ??= loadKeys(pool)
      .then((keys) => {
        read = { keys, at: now() };
        return keys;
      })
      .finally(() => {
        reading = undefined;
      });
    return reading;
  };

  /** Unexpired keys, oldest first. */
  const currentKeys = async (maxAgeMs: number): Promise<readonly SigningKey[]> => {
    const known = read;
    let keys = known?.keys ?? [];
    if (!known) keys = await readKeys();
    else if (now() - known.at > maxAgeMs && performance.now() - failedAt > retryMs) {
      keys = await within(timeoutMs, readKeys()).catch(() => {
        failedAt = performance.now();
        return known.keys;
      });
    }
    return keys.filter(({ expiresAt }) => expiresAt > now());
  };

  /** The same, after creating the next key if it is time. */
  const rotatedKeys = async (): Promise<readonly SigningKey[]> => {
    const keys = await currentKeys(cacheMs);
    const newest = keys.findLast(isOurs);
    if (newest && now() - newest.createdAt < rotateAfterMs) return keys;
    try {
      await addKey(pool, keys.at(-1)?.id ?? null, now(), (id, privateKey) =>
        sealWithKeyId(sealing, privateKey, contextOf(id)),
      );
    } catch (error) {
      // The newest one continues to sign until it expires.
      if (newest) return keys;
      throw error;
    }
    return currentKeys(-1);
  };

  return {
    async sign({ typ, claims, ttlSeconds }) {
      const key = signingKeyOf((await rotatedKeys()).filter(isOurs), now());
      if (!key) throw new Error("there is no signing key");
      const privateKey = createPrivateKey({
        key: JSON.parse(openWithKeyId(sealing, key.sealedPrivateKey, contextOf(key.id))),
        format: "jwk",
      });
      const issuedAt = Math.floor(now() / 1000);
      // A token ends before its key.
      const left = Math.floor(key.expiresAt / 1000) - issuedAt;
      const expiresAt = issuedAt + Math.min(Math.max(ttlSeconds, 1), maxSecondsOf(typ), left);
      const token = await new SignJWT(claims)
        .setProtectedHeader({ alg: "ES256", typ, kid: key.id })
        .setIssuer(issuer)
        .setIssuedAt(issuedAt)
        .setExpirationTime(expiresAt)
        .sign(privateKey);
      return { token, expiresAt: new Date(expiresAt * 1000) };
    },

    async verify(token, { typ, audience }) {
      const kid = keyIdOf(token);
      if (kid === null) return null;
      const key =
        (await currentKeys(cacheMs)).find(({ id }) => id === kid) ??
        (await currentKeys(unknownKeyMs)).find(({ id }) => id === kid);
      if (!key) {
        if (performance.now() - failedAt < retryMs) throw new Error("the database is unavailable, and the key unknown");
        return null;
      }
      try {
        const { payload } = await jwtVerify(token, key.publicKey, {
          algorithms: ["ES256"],
          typ,
          issuer,
          audience,
          requiredClaims: ["iat", "exp", "aud"],
          maxTokenAge: maxSecondsOf(typ),
          clockTolerance: leewaySeconds,
          currentDate: new Date(now()),
        });
        return payload;
      } catch (error) {
        if (error instanceof errors.JOSEError) return null;
        throw error;
      }
    },

    save: () =>
      (read?.keys ?? []).map(({ id, createdAt, expiresAt, publicKey }) => {
        const jwk = JSON.stringify(publicKey.export({ format: "jwk" }));
        return { id, createdAt, expiresAt, publicKey: jwk };
      }),

    restore(saved) {
      if (read || saved.length === 0) return;
      const keys = saved.map(({ publicKey, ...key }) => ({
        ...key,
        publicKey: createPublicKey({ key: JSON.parse(publicKey), format: "jwk" }),
        // Private parts are not saved: this process doesn't sign with them.
        sealedPrivateKey: "",
      }));
      read = { keys, at: Number.NEGATIVE_INFINITY };
    },

    async published() {
      const keys = await rotatedKeys();
      return {
        keys: keys.map(({ id, publicKey }) => ({
          ...publicKey.export({ format: "jwk" }),
          kid: id,
          alg: "ES256",
          use: "sig",
        })),
      };
    },
  };
}

/**
 * The newest key that has been published long enough; the oldest one if none has, as on a new instance. Never a key
 * that could expire before the token.
 */
function signingKeyOf(keys: readonly SigningKey[], now: number): SigningKey | undefined {
  const lasting = keys.filter(({ expiresAt }) => expiresAt > now + maxTtlSeconds * 1000);
  return lasting.findLast(({ createdAt }) => createdAt <= now - publishedBeforeMs) ?? lasting[0];
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`the database has not answered within ${ms} ms`)), ms);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

const contextOf = (id: string) => `jwks ${id}`;

function keyIdOf(token: string): string | null {
  try {
    return decodeProtectedHeader(token).kid ?? null;
  } catch {
    return null;
  }
}

async function loadKeys(pool: Pool): Promise<readonly SigningKey[]> {
  const { rows } = await pool.query<{
    id: string;
    public_key: string;
    private_key: string;
    created_at: Date;
    expires_at: Date;
  }>("SELECT id, public_key, private_key, created_at, expires_at FROM jwks ORDER BY created_at, id");
  return rows.map((row) => ({
    id: row.id,
    createdAt: row.created_at.getTime(),
    expiresAt: row.expires_at.getTime(),
    publicKey: createPublicKey({ key: JSON.parse(row.public_key), format: "jwk" }),
    sealedPrivateKey: row.private_key,
  }));
}

/** Adds a key unless another process has done so since `newestId` was the newest. */
async function addKey(
  pool: Pool,
  newestId: string | null,
  now: number,
  sealPrivateKey: (id: string, privateKey: string) => string,
): Promise<void> {
  const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const id = randomUUID();
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    await client.query("SELECT pg_advisory_xact_lock(hashtext('towpath_jwks'))");
    await client.query(
      `INSERT INTO jwks (id, public_key, private_key, created_at, expires_at)
       SELECT $1, $2, $3, $4, $5
       WHERE NOT EXISTS (SELECT FROM jwks WHERE expires_at > $4)
         OR (SELECT id FROM jwks WHERE expires_at > $4 ORDER BY created_at DESC, id DESC LIMIT 1) = $6`,
      [
        id,
        JSON.stringify(pair.publicKey.export({ format: "jwk" })),
        sealPrivateKey(id, JSON.stringify(pair.privateKey.export({ format: "jwk" }))),
        new Date(now),
        new Date(now + keyLifeMs),
        newestId,
      ],
    );
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK").catch(() => {});
    throw error;
  } finally {
    client.release();
  }
}
