import { createPublicKey, type KeyObject } from "node:crypto";
import { readFile } from "node:fs/promises";
import { type AddressPolicy, createCheckedFetch, EgressError, privateNetworkRemedy } from "@towpath/egress";
import { z } from "zod";
import type { OperatorIssuer } from "./operator-issuer.config.ts";

/** Where the keys of an issuer are: see the columns of `workload_identity`. */
export type KeySource = {
  readonly issuer: string;
  readonly jwksUrl: string | null;
  readonly keySet: string | null;
  readonly ca: string | null;
};

export type IssuerKey = { readonly key: KeyObject; readonly algorithm: "RS256" | "ES256" };
/** By `kid`. */
export type IssuerKeys = ReadonlyMap<string, IssuerKey>;

/** `message` may be shown to the organization that named the issuer. */
export class IssuerKeysError extends Error {
  override readonly name = "IssuerKeysError";
  /** Of the answer in place of a document; null: there was none, or it was something else. */
  readonly status: number | null;

  constructor(
    message: string,
    { status = null, cause }: { readonly status?: number | null; readonly cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.status = status;
  }
}

const timeoutMs = 5000;
const maxBytes = 256 * 1024;
const maxKeys = 100;
const maxKidLength = 256;
/** Larger ones make every verification slow. */
const [minModulusBits, maxModulusBits] = [2048, 8192];

const discoverySchema = z.object({ issuer: z.string(), jwks_uri: z.url() });
const keySetSchema = z.object({ keys: z.array(z.record(z.string(), z.unknown())) });

/** Whose addresses may be asked: those that everybody's must have, and the operator's own issuer, wherever it is. */
export type IssuerReach = { readonly policy: AddressPolicy; readonly operator: OperatorIssuer | null };

/**
 * The keys of an issuer that may sign tokens with RS256 or ES256: from its key set, or fetched from where its discovery
 * document says (OpenID Connect Discovery 1.0), within bounds of time and size. Those of the operator's issuer, if nobody
 * says where else they are, from where the operator says.
 *
 * @throws IssuerKeysError
 */
export async function readIssuerKeys(source: KeySource, { policy, operator }: IssuerReach): Promise<IssuerKeys> {
  const { issuer, jwksUrl, keySet, ca } = source;
  if (keySet !== null) return keysOf(parsed(keySet, "The key set"), "The key set");
  if (issuer === operator?.issuer && jwksUrl === null && ca === null) return readOperatorKeys(operator);
  const checked = createCheckedFetch(policy, undefined, ca === null ? {} : { ca });
  const signal = AbortSignal.timeout(timeoutMs);
  const fetchJson = async (url: string) => parsed(await read(url, { checked, signal }), url);
  try {
    const url = source.jwksUrl ?? keySetUrl(source.issuer, await discover(source.issuer, fetchJson));
    return keysOf(await fetchJson(url), url);
  } catch (error) {
    throw explained(error, source);
  } finally {
    await checked.close();
  }
}

const anywhere: AddressPolicy = { allows: () => true };

/** The address is a setting, so neither it nor where it leads is a tenant's choice. */
async function readOperatorKeys({ issuer, keysUrl, caFile, tokenFile }: OperatorIssuer): Promise<IssuerKeys> {
  const ca = caFile && (await fileOf(caFile));
  const token = tokenFile && (await fileOf(tokenFile));
  const checked = createCheckedFetch(anywhere, undefined, ca === null ? {} : { ca });
  const signal = AbortSignal.timeout(timeoutMs);
  const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token.trim()}` };
  try {
    return keysOf(parsed(await read(keysUrl, { checked, signal, headers }), keysUrl), keysUrl);
  } catch (error) {
    const { message } = explained(error, { issuer, jwksUrl: keysUrl, keySet: null, ca });
    const what = message.replace(` ${publicRemedy}`, "");
    throw new IssuerKeysError(`${what} It is the operator who sets where these keys are.`, { cause: error });
  } finally {
    await checked.close();
  }
}

const fileOf = (path: string) =>
  readFile(path, "utf8").catch((error: unknown) => {
    throw new IssuerKeysError(`The file ${path} can't be read.`, { cause: error });
  });

const discoveryUrl = (issuer: string) => `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;

/** An authorization server that is no OpenID provider has its metadata elsewhere (RFC 8414 §3.1). */
function metadataUrl(issuer: string): string {
  const { origin, pathname } = new URL(issuer);
  return `${origin}/.well-known/oauth-authorization-server${pathname.replace(/\/$/, "")}`;
}

async function discover(issuer: string, fetchJson: (url: string) => Promise<unknown>): Promise<unknown> {
  try {
    return await fetchJson(discoveryUrl(issuer));
  } catch (error) {
    if (!(error instanceof IssuerKeysError && error.status === 404)) throw error;
    // The first address is the usual one, so its error is shown.
    return fetchJson(metadataUrl(issuer)).catch(() => Promise.reject(error));
  }
}

function keySetUrl(issuer: string, document: unknown): string {
  const { data } = discoverySchema.safeParse(document);
  if (!data)
    throw new IssuerKeysError(`${discoveryUrl(issuer)} is no discovery document: it needs issuer and jwks_uri.`);
  if (data.issuer === issuer) {
    if (new URL(issuer).protocol !== "https:" || data.jwks_uri.startsWith("https:")) return data.jwks_uri;
    throw new IssuerKeysError(`The issuer has its keys at an address without https: ${data.jwks_uri.slice(0, 300)}`);
  }
  throw new IssuerKeysError(`The issuer calls itself ${data.issuer.slice(0, 300)}: enter it like that.`);
}

type Fetching = {
  readonly checked: ReturnType<typeof createCheckedFetch>;
  readonly signal: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
};

const publicRemedy = "Let it answer without a sign-in, or enter its keys.";

/** The API server of Kubernetes answers 406 to those who don't name the type of a key set. */
const accept = "application/json, application/jwk-set+json";

async function read(url: string, { checked, signal, headers }: Fetching): Promise<string> {
  const response = await checked.fetch(url, {
    signal,
    headers: { ...headers, accept, "user-agent": "towpath" },
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    const remedy = [401, 403].includes(response.status) ? ` ${publicRemedy}` : "";
    throw new IssuerKeysError(`${url} answered with HTTP ${response.status}.${remedy}`, { status: response.status });
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw new IssuerKeysError(`${url} is larger than ${maxBytes / 1024} KiB.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parsed(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new IssuerKeysError(`${what} is not JSON.`);
  }
}

function keysOf(document: unknown, what: string): IssuerKeys {
  const { data } = keySetSchema.safeParse(document);
  if (!data) throw new IssuerKeysError(`${what} is no JWK set: it needs a list \`keys\`.`);
  if (data.keys.length > maxKeys) throw new IssuerKeysError(`${what} has more than ${maxKeys} keys.`);
  const keys = new Map(data.keys.flatMap(keyOf));
  if (keys.size > 0) return keys;
  throw new IssuerKeysError(`${what} has no key for RS256 (RSA, 2048 bits or more) or ES256 (P-256) with a \`kid\`.`);
}

/** Public keys as JSON, and the way back. */
export const savedKeySchema = z.object({ kid: z.string(), jwk: z.record(z.string(), z.unknown()) });
export type SavedIssuerKey = z.infer<typeof savedKeySchema>;

export const saveIssuerKeys = (keys: IssuerKeys): SavedIssuerKey[] =>
  [...keys].map(([kid, { key }]) => ({ kid, jwk: { ...key.export({ format: "jwk" }) } }));

export const restoreIssuerKeys = (saved: readonly SavedIssuerKey[]): IssuerKeys =>
  new Map(saved.flatMap(({ kid, jwk }) => keyOf({ ...jwk, kid })));

function keyOf(jwk: Record<string, unknown>): [string, IssuerKey][] {
  const { kid, kty, use = "sig", crv } = jwk;
  if (typeof kid !== "string" || kid.length > maxKidLength || use !== "sig") return [];
  const algorithm = kty === "RSA" ? "RS256" : kty === "EC" && crv === "P-256" ? "ES256" : null;
  if (algorithm === null || (jwk.alg !== undefined && jwk.alg !== algorithm)) return [];
  try {
    // Its public part only: a private key may have been pasted.
    const parts = kty === "RSA" ? ["kty", "n", "e"] : ["kty", "crv", "x", "y"];
    const publicPart = Object.fromEntries(parts.map((name) => [name, String(jwk[name])]));
    const key = createPublicKey({ key: publicPart, format: "jwk" });
    const { modulusLength: bits } = key.asymmetricKeyDetails ?? {};
    if (bits !== undefined && (bits < minModulusBits || bits > maxModulusBits)) return [];
    return [[kid, { key, algorithm }]];
  } catch {
    return [];
  }
}

function explained(error: unknown, { issuer, ca }: KeySource): IssuerKeysError {
  if (error instanceof IssuerKeysError) return error;
  if (error instanceof EgressError) {
    const remedy =
      error.problem === "address_not_allowed"
        ? ` ${privateNetworkRemedy}`
        : error.problem === "tls" && ca === null
          ? " If an authority of your own signed it, enter that authority's certificate."
          : "";
    return new IssuerKeysError(`${error.message}${remedy}`, { cause: error });
  }
  const isLate = error instanceof Error && error.name === "TimeoutError";
  const what = isLate ? `did not answer within ${timeoutMs / 1000} seconds` : "could not be read";
  return new IssuerKeysError(`The keys of ${issuer} ${what}.`, { cause: error });
}
