import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";
import { UnauthorizedError as LegacyUnauthorized } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacyTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { freePort } from "@towpath/role/testing";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { launchChromium } from "../../../tests/chromium.ts";
import { isThorough } from "../../../tests/thorough.ts";
import {
  type Certificate,
  fetchHere,
  killGroup,
  makeCertificate,
  memoryProvider,
  openCallback,
  printedAddress,
  startFastMcpClient,
  startOwnSignIn,
  startProvider,
  startTlsFront,
} from "./testing/own-sign-in.ts";
import { createRig, type Rig } from "./testing/rig.ts";

// FastMCP servers with their own sign-in, a real provider and a real browser, by host name and by path. The servers
// receive requests unchanged: they know their address only from TOWPATH_CLOUD_URL.

vi.setConfig({ testTimeout: 120_000 });

type Form = "host" | "path";
const forms: readonly Form[] = ["host", "path"];
const kinds = ["proxy", "remote"] as const;
type Kind = (typeof kinds)[number];
/** By path the gateway rewrites more; by host one client shows the same. */
const kindsBy = (form: Form): readonly Kind[] => (form === "path" || isThorough ? kinds : ["proxy"]);
type Place = { rig: Rig; front: { close: () => void }; template: string };

let directory: string;
let certificate: Certificate;
let browser: Browser;
let callback: Awaited<ReturnType<typeof openCallback>>;
const places = {} as Record<Form, Place>;
const children: ChildProcess[] = [];

const labelOf = (kind: Kind) => `own-${kind}`;
const addressOf = (form: Form, label: string) => places[form].template.replace("{name}", label);
const urlOf = (form: Form, kind: Kind) => new URL(`${addressOf(form, labelOf(kind))}/mcp`);

async function openPlace(form: Form): Promise<Place> {
  const port = await freePort();
  const template = form === "host" ? `https://{name}.example.test:${port}` : `https://mcp.example.test:${port}/{name}`;
  const rig = await createRig({ TOWPATH_SERVER_URL: template });
  return { rig, front: await startTlsFront(port, rig.gateway.port, certificate), template };
}

async function startServer(form: Form, kind: Kind, issuer: string): Promise<void> {
  const { rig } = places[form];
  const label = labelOf(kind);
  const socket = join(directory, `${form}-${kind}.sock`);
  children.push(await startOwnSignIn(kind, { url: addressOf(form, label), issuer, socket }));
  const { deploymentId } = await rig.deploy((_, response) => response.destroy(), { label, authMode: "passthrough" });
  rig.runner.servers.set(deploymentId, { instanceId: crypto.randomUUID(), endpoint: { kind: "unix", path: socket } });
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tp-own-"));
  certificate = await makeCertificate(directory);
  for (const form of forms) places[form] = await openPlace(form);
  const provider = await startProvider(forms.map((form) => `${addressOf(form, "own-proxy")}/auth/callback`));
  children.push(provider.child);
  for (const form of forms) await Promise.all(kindsBy(form).map((kind) => startServer(form, kind, provider.url)));
  callback = await openCallback();
  browser = await launchChromium({ args: ["--host-resolver-rules=MAP *.example.test 127.0.0.1"] });
}, 240_000);

afterAll(async () => {
  await browser?.close();
  callback?.close();
  for (const child of children) killGroup(child);
  for (const { front, rig } of Object.values(places)) {
    front.close();
    await rig.close();
  }
  await rm(directory, { recursive: true, force: true });
});

async function newPage(): Promise<Page> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  return page;
}

type Visit = { form: Form; kind: Kind; name: string };

/** Opens the page that a client sends its user to, allows access and signs in. Returns the callback's parameters. */
async function signIn(address: URL | string, { form, kind, name }: Visit): Promise<URLSearchParams> {
  const page = await newPage();
  await page.goto(String(address));
  if (kind === "proxy") {
    await page.getByRole("heading", { name: "Application Access Request" }).waitFor();
    await page.getByRole("button", { name: "Allow Access" }).click();
    if (form === "path") {
      await page.getByRole("heading", { name: "Continue to own-proxy?" }).waitFor();
      await page.getByRole("button", { name: "Continue" }).click();
    }
  }
  await page.locator("input[name=login]").fill(name);
  await page.locator("input[name=password]").fill("any");
  await page.getByRole("button", { name: "Sign-in" }).click();
  await page.getByRole("button", { name: "Continue" }).click();
  await page.waitForURL(/\/callback\?/);
  const { searchParams } = new URL(page.url());
  expect([...searchParams.keys()]).toContain("code");
  await page.context().close();
  return searchParams;
}

const textContent = (text: string) => [expect.objectContaining({ type: "text", text })];

for (const form of forms) {
  for (const kind of kindsBy(form)) {
    test(`GW-4 GW-1 by ${form}, the TypeScript client 2 that knows only the URL signs in at the server's own provider (${kind})`, async () => {
      const authProvider = memoryProvider(callback.url);
      const url = urlOf(form, kind);
      const options = { authProvider, fetch: fetchHere(certificate) };
      const connect = async () => {
        const client = new Client({ name: "own-two", version: "1" }, { versionNegotiation: { mode: "auto" } });
        await client.connect(new StreamableHTTPClientTransport(url, options));
        return client;
      };
      await expect(connect()).rejects.toThrow(UnauthorizedError);
      expect(authProvider.kept.asked?.searchParams.get("resource")).toBe(url.href);
      const answer = await signIn(authProvider.kept.asked ?? "", { form, kind, name: "ada" });
      await new StreamableHTTPClientTransport(url, options).finishAuth(answer);
      const client = await connect();
      expect((await client.callTool({ name: "whoami", arguments: {} })).content).toEqual(textContent("ada"));
      await client.close();
    });
  }

  if (form === "host" && !isThorough) continue;

  test.runIf(isThorough)(`GW-4 GW-1 by ${form}, FastMCP's client signs in at the server's own provider`, async () => {
    const client = startFastMcpClient(urlOf(form, "proxy").href, certificate.certPath);
    children.push(client);
    let printed = "";
    client.stdout?.on("data", (chunk: Buffer) => {
      printed += chunk.toString();
    });
    const closed = once(client, "close");
    await signIn(await printedAddress(client.stdout, client.stderr), { form, kind: "proxy", name: "grace" });
    expect(await closed).toEqual([0, null]);
    expect(printed).toContain("signed in as grace");
  });

  test(`GW-4 by ${form}, the TypeScript client 1 signs in and calls in a session`, async () => {
    const authProvider = memoryProvider(callback.url);
    const url = urlOf(form, "proxy");
    const options = { authProvider, fetch: fetchHere(certificate) };
    const connect = async () => {
      const client = new LegacyClient({ name: "own-one", version: "1" });
      await client.connect(new LegacyTransport(url, options));
      return client;
    };
    await expect(connect()).rejects.toThrow(LegacyUnauthorized);
    const answer = await signIn(authProvider.kept.asked ?? "", { form, kind: "proxy", name: "joan" });
    await new LegacyTransport(url, options).finishAuth(answer.get("code") ?? "");
    const client = await connect();
    expect((await client.callTool({ name: "whoami", arguments: {} })).content).toEqual(textContent("joan"));
    await client.close();
  });

  test(`GW-4 by ${form}, a browser client reads the challenge and the documents, and registers`, async () => {
    const page = await newPage();
    // A page of another origin, as a client in the browser is.
    await page.goto(callback.url);
    const found = await page.evaluate(async (url) => {
      const headers = { "content-type": "application/json", "mcp-protocol-version": "2025-11-25" };
      const refused = await fetch(url, { method: "POST", headers, body: "{}" });
      const challenge = refused.headers.get("www-authenticate") ?? "";
      const read = async (address: string) =>
        (await (await fetch(address, { headers })).json()) as Record<string, string>;
      const resource = await read(/resource_metadata="([^"]+)"/.exec(challenge)?.[1] ?? "");
      const issuer = new URL(resource.authorization_servers?.[0] ?? "");
      const path = issuer.pathname.replace(/\/$/, "");
      const metadata = await read(`${issuer.origin}/.well-known/oauth-authorization-server${path}`);
      const body = JSON.stringify({ redirect_uris: ["http://localhost:1/callback"], client_name: "In a browser" });
      const registered = await fetch(metadata.registration_endpoint ?? "", { method: "POST", headers, body });
      return { status: refused.status, resource, metadata, registered: registered.status };
    }, urlOf(form, "proxy").href);
    const base = addressOf(form, "own-proxy");
    expect(found).toMatchObject({
      status: 401,
      resource: { resource: `${base}/mcp` },
      metadata: { token_endpoint: `${base}/token`, authorization_endpoint: `${base}/authorize` },
      registered: 201,
    });
    await page.context().close();
  });
}

test("GW-4 by path, documents reach the server under both names, and a token for another server is refused by it", async () => {
  const ask = fetchHere(certificate);
  const { origin } = urlOf("path", "proxy");
  const issuers = async (path: string) => {
    const answer = await ask(`${origin}${path}`);
    return answer.ok ? ((await answer.json()) as { issuer?: string; resource?: string }) : answer.status;
  };
  for (const path of [
    "/.well-known/oauth-authorization-server/own-proxy",
    "/own-proxy/.well-known/oauth-authorization-server",
  ]) {
    expect(await issuers(path)).toMatchObject({ issuer: `${origin}/own-proxy` });
  }
  expect(await issuers("/.well-known/oauth-protected-resource/own-proxy/mcp")).toMatchObject({
    resource: `${origin}/own-proxy/mcp`,
  });
  // The server has no such document: its own 404.
  expect(await issuers("/.well-known/openid-configuration/own-proxy")).toBe(404);
  const headers = { authorization: "Bearer made.up.token", "content-type": "application/json" };
  const refused = await ask(urlOf("path", "proxy"), { method: "POST", headers, body: "{}" });
  expect(refused.status).toBe(401);
  expect(refused.headers.get("www-authenticate")).toContain(
    `resource_metadata="${origin}/.well-known/oauth-protected-resource/own-proxy/mcp"`,
  );
});

test("GW-4 by path, a neighbour's page can neither send a server's forms nor read its pages or cookies", async () => {
  const { rig } = places.path;
  const asked: string[] = [];
  const victim = await rig.deploy(
    (request, response) => {
      asked.push(`${request.method} ${request.headers.cookie ?? "without cookies"}`);
      request.resume();
      response.writeHead(200, { "content-type": "text/html", "set-cookie": "session=1; SameSite=Lax; Path=/; Secure" });
      response.end("<title>victim</title><form method=post><button name=a value=b>Send</button></form>");
    },
    { label: "the-victim", authMode: "passthrough" },
  );
  const hostile = `<title>hostile</title><form method=post action=/${victim.label}/transfer><button name=to value="<me>&amp;">Win</button></form>`;
  await rig.deploy((_, response) => response.writeHead(200, { "content-type": "text/html" }).end(hostile), {
    label: "the-hostile",
    authMode: "passthrough",
  });
  const page = await newPage();
  await page.goto(addressOf("path", victim.label));
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("button", { name: "Continue" }).click();
  await page.waitForURL(/the-victim/);
  await expect.poll(() => asked).toEqual(["GET without cookies", "POST session=1"]);

  await page.goto(addressOf("path", "the-hostile"));
  const stolen = await page.evaluate(
    async (url) => {
      const shown = globalThis as unknown as { document: { cookie: string }; localStorage: object };
      const attempts = [() => shown.document.cookie, () => shown.localStorage, async () => (await fetch(url)).status];
      return Promise.all(
        attempts.map(async (attempt) => attempt()).map((each) => each.then(String, (error) => error.name)),
      );
    },
    addressOf("path", victim.label),
  );
  expect(stolen).toEqual(["SecurityError", "SecurityError", "403"]);
  await page.getByRole("button", { name: "Win" }).click();
  // Nothing is sent to the victim before the person has agreed.
  await page.getByRole("heading", { name: "Continue to the-victim?" }).waitFor();
  await expect.poll(() => page.locator("input[name=to]").getAttribute("value")).toBe("<me>&");
  expect(asked.filter((each) => each.startsWith("POST"))).toHaveLength(1);
  await page.context().close();
});
