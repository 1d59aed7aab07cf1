import { execFile } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { startMailServer } from "@towpath/mail/testing";
import { freePort } from "@towpath/role/testing";
import { expect, onTestFinished, test } from "vitest";
import { addressFinding } from "./checks/addresses.ts";
import { bucket } from "./checks/bucket.ts";
import { certificates } from "./checks/certificates.ts";
import { gitHubApps } from "./checks/github-apps.ts";
import { mail } from "./checks/mail.ts";
import { models } from "./checks/models.ts";
import { names } from "./checks/names.ts";
import { oidc } from "./checks/oidc.ts";
import type { Check } from "./finding.ts";
import { emptyDirectory, examine, serve } from "./testing/facts-of.ts";

/** Nothing listens there. */
const deadAddress = async () => `127.0.0.1:${await freePort()}`;

test.each<[string, Check]>([
  ["bucket", bucket],
  ["GitHub App", gitHubApps],
  ["OpenID Connect", oidc],
  ["mail server", mail],
  ["model", models],
])("OPS-6 doctor: without its settings the %s is not needed", async (name, check) => {
  expect(await examine(check, {})).toMatchObject([{ name, state: "not-needed" }]);
});

test.each<[Check, Record<string, string>, string]>([
  [bucket, { TOWPATH_ARTIFACTS: "s3://layers" }, "TOWPATH_ARTIFACTS_ACCESS_KEY_ID is missing"],
  [oidc, { TOWPATH_OIDC_ISSUER: "https://id.example.com" }, "TOWPATH_OIDC_CLIENT_ID is missing"],
  [mail, { TOWPATH_SMTP_URL: "smtp://localhost" }, "TOWPATH_MAIL_FROM is missing"],
  [models, { TOWPATH_CHAT_MODELS: "{" }, "TOWPATH_CHAT_MODELS must be a JSON list"],
  [gitHubApps, { GITHUB_APP_ID: "7" }, "GITHUB_CLIENT_ID"],
])("OPS-6 doctor: settings that a process would refuse are listed: %#", async (check, settings, problem) => {
  expect(await examine(check, settings)).toMatchObject([
    { state: "fix", detail: expect.stringContaining(problem), remedy: expect.stringContaining("configuration.md") },
  ]);
});

const bucketSettings = (endpoint: string) => ({
  TOWPATH_ARTIFACTS: "s3://layers",
  TOWPATH_ARTIFACTS_ENDPOINT: endpoint,
  TOWPATH_ARTIFACTS_ACCESS_KEY_ID: "key",
  TOWPATH_ARTIFACTS_SECRET_ACCESS_KEY: "secret",
});

const rule = (content: string) => `<Rule><Status>Enabled</Status>${content}</Rule>`;

test("OPS-6 OPS-13 doctor: an S3 service that is dead, refuses the key, lacks the bucket or deletes artifacts is reported", async () => {
  const remedy = expect.stringContaining("TOWPATH_ARTIFACTS");
  expect(await examine(bucket, bucketSettings(`http://${await deadAddress()}`))).toMatchObject([
    { state: "fix", detail: expect.stringContaining("ECONNREFUSED"), remedy },
  ]);
  const refusing = await serve((_, response) =>
    response.writeHead(403).end("<Error><Code>SignatureDoesNotMatch</Code></Error>"),
  );
  expect(await examine(bucket, bucketSettings(refusing))).toMatchObject([
    { state: "fix", detail: expect.stringContaining("403"), remedy },
  ]);
  const empty = await serve((_, response) => response.writeHead(404).end());
  expect(await examine(bucket, bucketSettings(empty))).toMatchObject([
    { state: "fix", detail: expect.stringContaining("bucket doesn't exist"), remedy },
  ]);
  const methods: unknown[] = [];
  const working = await serve((request, response) => {
    methods.push(request.method);
    request.resume();
    response.end(request.url?.includes("lifecycle") ? rules : "");
  });
  let rules = "";
  expect(await examine(bucket, bucketSettings(working))).toMatchObject([{ state: "ok" }]);
  expect(methods).toEqual(["GET", "PUT", "GET", "DELETE", "GET", "POST", "GET"]);
  rules = rule("<ID>Tidy</ID><Filter><Prefix></Prefix></Filter><Expiration><Days>30</Days></Expiration>");
  expect(await examine(bucket, bucketSettings(working))).toMatchObject([
    { state: "fix", detail: expect.stringContaining('lifecycle rule "Tidy" deletes artifacts'), remedy },
  ]);
  rules = rule("<Prefix>a</Prefix><Transition><Days>9</Days><StorageClass>GLACIER</StorageClass></Transition>");
  expect(await examine(bucket, bucketSettings(working))).toMatchObject([
    { state: "fix", detail: expect.stringContaining('rule "without a name" archives artifacts'), remedy },
  ]);
  // Not of artifacts, of parts that were never put together, of instant access, and switched off.
  rules =
    rule("<Filter><Prefix>logs/</Prefix></Filter><Expiration><Days>1</Days></Expiration>") +
    rule(
      "<AbortIncompleteMultipartUpload><DaysAfterInitiation>1</DaysAfterInitiation></AbortIncompleteMultipartUpload>",
    ) +
    rule("<Transition><Days>9</Days><StorageClass>GLACIER_IR</StorageClass></Transition>") +
    rule("<Expiration><Days>1</Days></Expiration>").replace("Enabled", "Disabled");
  expect(await examine(bucket, bucketSettings(working))).toMatchObject([{ state: "ok" }]);
});

test("OPS-6 doctor: a dead mail server and one that refuses the sign-in are reported, one that works is not", async () => {
  const from = { TOWPATH_MAIL_FROM: "towpath@example.com" };
  const dead = await deadAddress();
  expect(await examine(mail, { ...from, TOWPATH_SMTP_URL: `smtp://ada:very-secret@${dead}` })).toEqual([
    {
      name: "mail server",
      state: "fix",
      detail: expect.stringMatching(`^${dead}: .*ECONNREFUSED`),
      remedy: "Look at TOWPATH_SMTP_URL, and let this machine reach the server.",
    },
  ]);
  const server = await startMailServer();
  onTestFinished(() => server.stop());
  expect(await examine(mail, { ...from, TOWPATH_SMTP_URL: server.url })).toMatchObject([{ state: "ok" }]);
  const wrong = server.url.replace("//", "//ada:wrong@");
  expect(await examine(mail, { ...from, TOWPATH_SMTP_URL: wrong })).toMatchObject([{ state: "fix" }]);
  expect(server.mails).toEqual([]);
});

test("OPS-6 doctor: an issuer that is another, says nothing, or publishes no keys is reported", async () => {
  let document: unknown = {};
  const url: string = await serve((request, response) => {
    const isDocument = request.url === "/.well-known/openid-configuration";
    if (isDocument && document !== null) return void response.end(JSON.stringify(document));
    response.writeHead(request.url === "/keys" ? 200 : 404).end("{}");
  });
  const settings = {
    TOWPATH_OIDC_ISSUER: url,
    TOWPATH_OIDC_CLIENT_ID: "towpath",
    TOWPATH_OIDC_CLIENT_SECRET: "secret",
  };
  const right = {
    issuer: url,
    authorization_endpoint: `${url}/a`,
    token_endpoint: `${url}/t`,
    jwks_uri: `${url}/keys`,
  };
  const finding = async (shown: unknown) => {
    document = shown;
    return (await examine(oidc, settings))[0];
  };
  expect(await finding(right)).toEqual({ name: "OpenID Connect", state: "ok", detail: url });
  expect(await finding({ ...right, issuer: "https://other.example.com" })).toMatchObject({
    state: "fix",
    remedy: "Set TOWPATH_OIDC_ISSUER=https://other.example.com",
  });
  expect(await finding({})).toMatchObject({
    state: "fix",
    detail: expect.stringContaining("no document of an issuer"),
  });
  expect(await finding(null)).toMatchObject({ state: "fix", detail: expect.stringContaining("answers 404") });
  expect(await finding({ ...right, jwks_uri: `${url}/gone` })).toMatchObject({
    state: "fix",
    detail: `${url}/gone answers 404`,
  });
  settings.TOWPATH_OIDC_ISSUER = `http://${await deadAddress()}`;
  expect(await finding(right)).toMatchObject({ state: "fix", detail: expect.stringContaining("doesn't answer") });
});

test("OPS-6 doctor: a model's provider that is dead or refuses the key is reported, by the name of the model", async () => {
  const keys: unknown[] = [];
  const url = await serve(({ headers }, response) => {
    keys.push(headers.authorization ?? headers["x-api-key"]);
    response.writeHead(headers.authorization === "Bearer right" ? 200 : 401).end();
  });
  const models_ = [
    { name: "One", provider: "openai-compatible", url, model: "one", key: "right" },
    { name: "Two", provider: "anthropic", url, model: "two", key: "wrong" },
    { name: "Three", provider: "openai-compatible", url: `http://${await deadAddress()}`, model: "three" },
  ];
  expect(await examine(models, { TOWPATH_CHAT_MODELS: JSON.stringify(models_) })).toMatchObject([
    { name: "model One", state: "ok" },
    { name: "model Two", state: "fix", remedy: expect.stringContaining("key") },
    { name: "model Three", state: "fix", detail: expect.stringContaining("ECONNREFUSED") },
  ]);
  expect(keys.toSorted()).toEqual(["Bearer right", "wrong"]);
});

test("OPS-6 doctor: an App of the environment that lacks permissions is reported as GitHub shows it", async () => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const app = {
    id: 7,
    slug: "towpath-acme",
    name: "Towpath",
    html_url: "https://github.example.com/apps/towpath-acme",
    owner: { login: "acme", type: "Organization" },
  };
  const url = await serve((request, response) =>
    response.end(
      JSON.stringify(request.url === "/app" ? { ...app, permissions: { metadata: "read" }, events: [] } : {}),
    ),
  );
  const found = await examine(gitHubApps, {
    GITHUB_APP_ID: "7",
    GITHUB_APP_SLUG: "towpath-acme",
    GITHUB_APP_PRIVATE_KEY: String(privateKey.export({ type: "pkcs8", format: "pem" })),
    GITHUB_CLIENT_ID: "client",
    GITHUB_CLIENT_SECRET: "secret",
    GITHUB_WEBHOOK_SECRET: "a secret of webhooks",
    GITHUB_URL: url,
    GITHUB_API_URL: url,
  });
  expect(found).toMatchObject([
    {
      name: "GitHub App towpath-acme",
      state: "fix",
      detail: expect.stringContaining("lacks permissions: contents: write"),
      remedy: expect.stringContaining(`${url}/organizations/acme/settings/apps/towpath-acme/permissions`),
    },
  ]);
});

test("OPS-6 doctor: names that don't resolve are reported with the record to make", async () => {
  const settings = { TOWPATH_URL: "https://towpath.invalid", TOWPATH_SERVER_URL: "https://{name}.servers.invalid" };
  expect(await examine(names, settings)).toMatchObject([
    {
      name: "name of the dashboard",
      state: "fix",
      detail: expect.stringContaining("towpath.invalid doesn't resolve"),
    },
    { name: "name of servers", state: "fix", remedy: expect.stringContaining("*.servers.invalid") },
  ]);
  const local = { TOWPATH_URL: "http://127.0.0.1:3000", TOWPATH_SERVER_URL: "http://localhost:8080/{name}" };
  expect(await examine(names, local)).toMatchObject([{ state: "not-needed" }, { state: "ok" }]);
});

async function selfSigned(): Promise<{ readonly key: string; readonly cert: string }> {
  const directory = await emptyDirectory();
  const [key, cert] = [join(directory, "key.pem"), join(directory, "cert.pem")];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  await promisify(execFile)("openssl", [
    "req",
    "-x509",
    "-nodes",
    "-newkey",
    "rsa:2048",
    "-days",
    "3",
    ...subject,
    "-keyout",
    key,
    "-out",
    cert,
  ]);
  return { key: await readFile(key, "utf8"), cert: await readFile(cert, "utf8") };
}

test("OPS-6 doctor: a certificate that clients refuse, and an address without TLS behind it, are reported", async () => {
  const server = createTlsServer(await selfSigned()).listen(0, "127.0.0.1");
  await new Promise((listening) => server.once("listening", listening));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const settings = {
    TOWPATH_URL: `https://localhost:${port}`,
    TOWPATH_SERVER_URL: `https://${await deadAddress()}/{name}`,
  };
  expect(await examine(certificates, settings)).toMatchObject([
    {
      name: "certificate of the dashboard",
      state: "fix",
      detail: expect.stringMatching(/^clients refuse it: .*SELF_SIGNED/),
    },
    { name: "certificate of servers", state: "fix", detail: expect.stringContaining("ECONNREFUSED") },
  ]);
  expect(await examine(certificates, {})).toMatchObject([{ state: "not-needed" }, { state: "not-needed" }]);
});

test("OPS-6 doctor: a proxy that leads elsewhere, or nowhere, is reported", async () => {
  const elsewhere = await serve((_, response) => response.end("<h1>It works!</h1>"));
  const here = await serve((request, response) => response.end(JSON.stringify({ ok: request.url === "/-/healthz" })));
  const at = (origin: string) =>
    addressFinding({ of: "servers", url: new URL(`${origin}/some/path`) }, "127.0.0.1:8080");
  expect(await at(elsewhere)).toMatchObject({ state: "fix", remedy: expect.stringContaining("to 127.0.0.1:8080") });
  expect(await at(`http://${await deadAddress()}`)).toMatchObject({
    state: "fix",
    detail: expect.stringContaining("ECONNREFUSED"),
  });
  expect(await at(here)).toEqual({ name: "address of servers", state: "ok", detail: here });
});
