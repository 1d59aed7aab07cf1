import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createAddressPolicy } from "@towpath/egress";
import { exportJWK, generateKeyPair } from "jose";
import { expect, onTestFinished, test } from "vitest";
import { IssuerKeyCache } from "./issuer-key-cache.ts";
import { type KeySource, readIssuerKeys } from "./issuer-keys.ts";
import { startTokenIssuer } from "./testing/token-issuer.ts";

const reach = (...networks: string[]) => ({ policy: createAddressPolicy(networks), operator: null });
const here = reach("127.0.0.0/8", "::1/128");
const source = (issuer: string, more: Partial<KeySource> = {}): KeySource => ({
  issuer,
  jwksUrl: null,
  keySet: null,
  ca: null,
  ...more,
});
const startIssuer: typeof startTokenIssuer = async (options) => {
  const issuer = await startTokenIssuer(options);
  onTestFinished(issuer.close);
  return issuer;
};
/** A certificate for localhost, signed by itself. */
async function selfSigned() {
  const directory = mkdtempSync(join(tmpdir(), "tp-ca-"));
  const [key, cert] = [join(directory, "key.pem"), join(directory, "cert.pem")];
  const name = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  await promisify(execFile)("openssl", ["req", "-x509", ...kind, "-keyout", key, "-out", cert, ...name]);
  const tls = { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
  rmSync(directory, { recursive: true });
  return tls;
}
/** A server with the same answer to every request. */
async function answering(status: number, body: string, headers: Record<string, string> = {}) {
  const server = createServer((_request, response) => response.writeHead(status, headers).end(body));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("KEY-6 keys are found by discovery, at an address, in a pasted set, and behind an authority of one's own", async () => {
  const issuer = await startIssuer();
  const [jwk] = (await issuer.keySet()).keys;
  const kids = async (from: KeySource) => [...(await readIssuerKeys(from, here)).keys()];
  expect(await kids(source(issuer.url))).toEqual([jwk?.kid]);
  expect(await kids(source("https://elsewhere.test", { jwksUrl: `${issuer.url}/openid/v1/jwks` }))).toEqual([jwk?.kid]);
  const keySet = JSON.stringify(await issuer.keySet());
  expect(await kids(source("https://elsewhere.test", { keySet }))).toEqual([jwk?.kid]);
  const tls = await selfSigned();
  const cluster = await startIssuer({ algorithm: "ES256", tls });
  expect(await kids(source(cluster.url, { ca: tls.cert }))).toHaveLength(1);
  await expect(kids(source(cluster.url))).rejects.toThrow("enter that authority's certificate");
  await expect(kids(source(cluster.url, { ca: (await selfSigned()).cert }))).rejects.toThrow(
    "No secure connection to localhost",
  );
});

test("KEY-6 CAP-3 an authorization server that is no OpenID provider is found by RFC 8414, below its path", async () => {
  const keys = await startIssuer();
  const server = createServer((request, response) => {
    const isMetadata = request.url === "/.well-known/oauth-authorization-server/acme";
    const issuer = `http://${request.headers.host}/acme`;
    response.writeHead(isMetadata ? 200 : 404).end(JSON.stringify({ issuer, jwks_uri: `${keys.url}/openid/v1/jwks` }));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.close());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  expect(await readIssuerKeys(source(`${origin}/acme`), here)).toHaveProperty("size", 1);
  await expect(readIssuerKeys(source(`${origin}/other`), here)).rejects.toThrow(
    "/other/.well-known/openid-configuration answered with HTTP 404",
  );
});

test("KEY-6 what is no key set, too large, redirected, private or silent is refused with the reason", async () => {
  const issuer = await startIssuer();
  const refused = (from: KeySource, within = here) => expect(readIssuerKeys(from, within)).rejects;
  await refused(source(issuer.url), reach()).toThrow("TOWPATH_EXTERNAL_NETWORKS");
  await refused(source("https://metadata.test", { jwksUrl: "http://169.254.169.254/keys" })).toThrow("not a host");
  issuer.state.calledItself = "https://kubernetes.default.svc";
  await refused(source(issuer.url)).toThrow("calls itself https://kubernetes.default.svc");
  issuer.state.fails = true;
  await refused(source(issuer.url)).toThrow("answered with HTTP 503");
  await refused(source(await answering(403, "{}"))).toThrow("Let it answer without a sign-in, or enter its keys.");
  await refused(source(await answering(200, "{}"))).toThrow("it needs issuer and jwks_uri");
  await refused(source(await answering(200, "<html>"))).toThrow("is not JSON");
  await refused(source(await answering(302, "", { location: issuer.url }))).toThrow("redirects");
  await refused(source("x", { jwksUrl: await answering(200, `"${"x".repeat(300_000)}"`) })).toThrow(
    "larger than 256 KiB",
  );
  await refused(source("x", { keySet: "{}" })).toThrow("it needs a list `keys`");
  const many = JSON.stringify({ keys: Array.from({ length: 101 }, () => ({})) });
  await refused(source("x", { keySet: many })).toThrow("more than 100 keys");
});

test("KEY-6 only public RSA keys of 2048 bits and P-256 keys for signatures count", async () => {
  const strong = await exportJWK((await generateKeyPair("RS256", { extractable: true })).publicKey);
  const other = await exportJWK((await generateKeyPair("ES384", { extractable: true })).publicKey);
  const ec = await exportJWK((await generateKeyPair("ES256", { extractable: true })).publicKey);
  const keys = [
    { ...strong, kid: "good" },
    { ...ec, kid: "ec", alg: "ES256", use: "sig" },
    { ...strong, kid: "encrypts", use: "enc" },
    { ...strong, kid: "another algorithm", alg: "PS256" },
    { ...strong, kid: "short", n: strong.n?.slice(0, 171) },
    { ...other, kid: "another curve" },
    { kty: "oct", k: "c2VjcmV0", kid: "shared secret" },
    { ...strong, kid: "x".repeat(300) },
    strong,
  ];
  const found = await readIssuerKeys(source("x", { keySet: JSON.stringify({ keys }) }), here);
  expect([...found.keys()]).toEqual(["good", "ec"]);
});

test("KEY-6 keys are cached; an unknown key id reads them again, at most twice a minute", async () => {
  const issuer = await startIssuer();
  let now = 0;
  const problems: (string | null)[] = [];
  const cache = new IssuerKeyCache({
    ...here,
    outageMs: 3_600_000,
    now: () => now,
    onProblem: (_source, problem) => problems.push(problem),
  });
  const from = source(issuer.url);
  const kidOf = async () => (await issuer.keySet()).keys[0]?.kid ?? "";
  const first = await kidOf();
  const found = await Promise.all(Array.from({ length: 20 }, () => cache.find(from, first)));
  expect(found.every((key) => key?.algorithm === "RS256")).toBe(true);
  expect(issuer.state.keyRequests).toBe(1);
  for (let at = 0; at < 50; at++) expect(await cache.find(from, `made up ${at}`)).toBeNull();
  expect(issuer.state.keyRequests).toBe(1);
  await issuer.rotate();
  const second = await kidOf();
  expect(await cache.find(from, second)).toBeNull();
  now += 30_000;
  expect(await cache.find(from, second)).not.toBeNull();
  expect(await cache.find(from, first)).toBeNull();
  expect(issuer.state.keyRequests).toBe(2);

  issuer.state.fails = true;
  now += 59 * 60_000;
  expect(await cache.find(from, second)).not.toBeNull();
  await expect.poll(() => problems.at(-1)).toContain("HTTP 503");
  now += 2 * 60_000;
  await expect(cache.find(from, second)).rejects.toThrow("HTTP 503");
  issuer.state.fails = false;
  await expect(cache.find(from, second)).rejects.toThrow("HTTP 503");
  now += 30_000;
  expect(await cache.find(from, second)).not.toBeNull();
  expect(problems.at(-1)).toBeNull();
});
