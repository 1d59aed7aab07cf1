import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAddressPolicy } from "@towpath/egress";
import { SignJWT } from "jose";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { IssuerKeyCache } from "./issuer-key-cache.ts";
import { readIssuerKeys } from "./issuer-keys.ts";
import { operatorIssuerSchema } from "./operator-issuer.config.ts";
import { startTokenIssuer } from "./testing/token-issuer.ts";

const nowhere = createAddressPolicy([]);
const source = (issuer: string) => ({ issuer, jwksUrl: null, keySet: null, ca: null });
let directory: string;
const at = (name: string) => join(directory, name);
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tp-issuer-"));
  await mkdir(at("account"));
  const issued = new SignJWT({ iss: "https://cluster.test" }).setProtectedHeader({ alg: "HS256" });
  await writeFile(at("account/token"), await issued.sign(Buffer.alloc(32)));
  await writeFile(at("account/ca.crt"), "a certificate");
});
afterAll(() => rm(directory, { recursive: true }));

const startIssuer = async (options: Parameters<typeof startTokenIssuer>[0] = {}) => {
  const issuer = await startTokenIssuer(options);
  onTestFinished(issuer.close);
  return issuer;
};
const operatorOf = (settings: Readonly<Record<string, string>>, account = "account") =>
  operatorIssuerSchema(at(account)).parse(settings);

test("KEY-6 keys of the operator's issuer are read where no tenant can send us, with a token that is read each time", async () => {
  const issuer = await startIssuer({ requires: "the second" });
  await writeFile(at("token"), "the first\n");
  const operator = operatorOf({
    TOWPATH_WORKLOAD_ISSUER: "https://cluster.internal",
    TOWPATH_WORKLOAD_ISSUER_KEYS: `${issuer.url}/openid/v1/jwks`,
    TOWPATH_WORKLOAD_ISSUER_TOKEN: at("token"),
  });
  const reach = { policy: nowhere, operator };
  const read = () => readIssuerKeys(source("https://cluster.internal"), reach);
  await expect(read()).rejects.toThrow("answered with HTTP 401. It is the operator who sets where these keys are.");
  await writeFile(at("token"), "the second\n");
  expect((await read()).size).toBe(1);
  // Others stay where everybody's must be, also under the operator's name or with the operator's address.
  const inside = { policy: nowhere, operator };
  const keys = `${issuer.url}/openid/v1/jwks`;
  for (const other of [
    source(issuer.url),
    { ...source("https://cluster.internal"), jwksUrl: keys },
    { ...source("https://elsewhere.test"), jwksUrl: keys },
  ])
    await expect(readIssuerKeys(other, inside)).rejects.toThrow("TOWPATH_EXTERNAL_NETWORKS");
  await rm(at("token"));
  await expect(read()).rejects.toThrow("can't be read");
});

test("KEY-6 in a cluster the issuer is that of the pod's own token, and its API server has the keys", () => {
  const pod = { KUBERNETES_SERVICE_HOST: "10.96.0.1", KUBERNETES_SERVICE_PORT: "443" };
  expect(operatorOf({ ...pod, TOWPATH_WORKLOAD_ISSUER: "cluster" })).toEqual({
    issuer: "https://cluster.test",
    keysUrl: "https://10.96.0.1:443/openid/v1/jwks",
    caFile: at("account/ca.crt"),
    tokenFile: at("account/token"),
  });
  const six = { ...pod, KUBERNETES_SERVICE_HOST: "fd00::1", TOWPATH_WORKLOAD_ISSUER: "cluster" };
  expect(operatorOf(six)?.keysUrl).toBe("https://[fd00::1]:443/openid/v1/jwks");
  expect(operatorOf(pod)).toBeNull();
  expect(operatorOf({ TOWPATH_WORKLOAD_ISSUER: "" })).toBeNull();
});

test("KEY-6 settings of an issuer that contradict each other or name no file are listed at once", () => {
  const problemsOf = (settings: Readonly<Record<string, string>>, account?: string) =>
    operatorIssuerSchema(at(account ?? "account"))
      .safeParse(settings)
      .error?.issues.map(({ path, message }) => `${path.join()} ${message}`) ?? [];
  const url = { TOWPATH_WORKLOAD_ISSUER: "https://cluster.internal" };
  expect(
    problemsOf({ ...url, TOWPATH_WORKLOAD_ISSUER_CA: at("none"), TOWPATH_WORKLOAD_ISSUER_TOKEN: at("none") }),
  ).toEqual([
    expect.stringMatching(/^TOWPATH_WORKLOAD_ISSUER_KEYS must be the address/),
    expect.stringMatching(/^TOWPATH_WORKLOAD_ISSUER_CA names a file that can't be read/),
    expect.stringMatching(/^TOWPATH_WORKLOAD_ISSUER_TOKEN names a file that can't be read/),
  ]);
  expect(problemsOf({ TOWPATH_WORKLOAD_ISSUER_CA: at("account/ca.crt") })).toEqual([
    "TOWPATH_WORKLOAD_ISSUER_CA is for an issuer that TOWPATH_WORKLOAD_ISSUER names by its URL",
  ]);
  const pod = { KUBERNETES_SERVICE_HOST: "10.96.0.1", TOWPATH_WORKLOAD_ISSUER: "cluster" };
  for (const [settings, account] of [
    [pod, "no account"],
    [{ TOWPATH_WORKLOAD_ISSUER: "cluster" }, "account"],
  ] as const)
    expect(problemsOf(settings, account)).toEqual([expect.stringContaining("no pod with a token")]);
  expect(problemsOf({ TOWPATH_WORKLOAD_ISSUER: "kubernetes" })[0]).toContain("must be cluster, or the URL");
});

test("KEY-6 saved keys count for as long as those that were read, and never replace newer ones", async () => {
  const issuer = await startIssuer();
  let now = 0;
  const open = () =>
    new IssuerKeyCache({
      policy: createAddressPolicy(["127.0.0.0/8"]),
      operator: null,
      outageMs: 3_600_000,
      now: () => now,
    });
  const from = source(issuer.url);
  const kid = (await issuer.keySet()).keys[0]?.kid ?? "";
  const first = open();
  await first.find(from, kid);
  const saved = JSON.parse(JSON.stringify(first.save()));
  expect(JSON.stringify(saved)).not.toContain('"d"');
  issuer.state.fails = true;
  now += 59 * 60_000;
  const next = open();
  let loads = 0;
  next.onUnknown = async () => {
    loads++;
    // Only the monotonic clock was moved.
    next.restore(saved.map((each: { readAt: number }) => ({ ...each, readAt: each.readAt - now })));
  };
  expect((await next.find(from, kid))?.algorithm).toBe("RS256");
  expect([loads, next.save().length]).toEqual([1, 1]);
  await expect(next.find(source(`${issuer.url}/other`), kid)).rejects.toThrow("HTTP 503");
  now += 2 * 60_000;
  await expect(next.find(from, kid)).rejects.toThrow("HTTP 503");
  expect(next.save()).toEqual([]);
  issuer.state.fails = false;
  await issuer.rotate();
  now += 30_000;
  const rotated = (await issuer.keySet()).keys[0]?.kid ?? "";
  expect(await next.find(from, rotated)).not.toBeNull();
  next.restore(saved);
  expect(await next.find(from, kid)).toBeNull();
});
