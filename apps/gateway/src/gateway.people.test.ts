import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { launchChromium } from "../../../tests/chromium.ts";
import { answerEmpty, connectModern, storeApiKey } from "./testing/clients.ts";
import { createMcpListener } from "./testing/mcp-server.ts";
import { createRig, type DeployedServer, type Rig } from "./testing/rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await createRig();
});
afterAll(() => rig.close());

/** Chromium's header for a page. */
const browser = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8" };

/** A server that counts its requests. */
async function deployCounting(options: Parameters<Rig["deploy"]>[1] = {}) {
  let asked = 0;
  const server = await rig.deploy((request, response) => {
    asked++;
    answerEmpty(request, response);
  }, options);
  return { server, asked: () => asked };
}

async function list({ projectId }: DeployedServer, description: string) {
  const query = "UPDATE project SET is_public = true, name = initcap(name), description = $2 WHERE id = $1";
  await rig.database.pool.query(query, [projectId, description]);
}

test("GW-16 GW-4 an open server's page says what it is and how clients connect, without calling the server or leaving a row", async () => {
  const { server, asked } = await deployCounting();
  const unlisted = await fetch(server.url, { headers: browser });
  const page = await unlisted.text();
  expect([unlisted.status, unlisted.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  expect(unlisted.headers.get("x-robots-tag")).toBe("noindex");
  expect(page).toContain(`<h1>${server.label}</h1>`);
  expect(page).toContain(`<pre>http://localhost:8080/${server.label}/mcp</pre>`);
  expect(page).toContain('<a class="button primary" href="cursor://anysphere.cursor-deeplink/mcp/install?name=');
  expect(page).toContain('<a class="button primary" href="vscode:mcp/install?');
  for (const client of ["Claude", "ChatGPT", "Claude Code", "Codex"]) expect(page).toContain(`<summary>${client}<`);
  expect(page).not.toMatch(/Sign in to Towpath|See its tools|API_KEY/);
  const policy = unlisted.headers.get("content-security-policy");
  expect(policy).toMatch(/^default-src 'none'.*frame-ancestors 'none'$/);
  expect(policy).not.toContain("unsafe");

  await list(server, 'Counts <script>alert(1)</script> & "locks"');
  const read = async () => (await fetch(server.url, { headers: browser })).text();
  await expect.poll(read).toContain("Counts &lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;locks&quot;");
  expect(await read()).toContain(
    `<a class="button" href="http://localhost:3000/app/${server.label}">See its tools</a>`,
  );
  const head = await fetch(server.url, { method: "HEAD", headers: browser });
  expect([head.status, head.headers.get("x-robots-tag"), await head.text()]).toEqual([200, null, ""]);

  expect(asked()).toBe(0);
  await fetch(server.url, { method: "POST", body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' });
  expect((await rig.rows(server.projectId, 1)).map(({ method }) => method)).toEqual(["ping"]);
});

test("GW-16 GW-5 a private server has the same page as an unused name", async () => {
  const { server, asked } = await deployCounting({ authMode: "towpath-cloud" });
  const open = async (url: URL, name: string) => {
    const response = await fetch(url, { headers: browser });
    const headers = [...response.headers].filter(([header]) => !["date", "content-length"].includes(header));
    const text = `${JSON.stringify(headers)}${await response.text()}`;
    return { status: response.status, text: text.replaceAll(name, "NAME").replaceAll(/config=[\w%]+/g, "") };
  };
  const own = await open(server.url, server.label);
  const nobodys = new URL(`/${"x".repeat(server.label.length)}/mcp`, server.url);
  expect(await open(nobodys, "x".repeat(server.label.length))).toEqual(own);
  expect(own.status).toBe(401);
  expect(own.text).toContain("resource_metadata=");
  expect(own.text).toContain('<a class="button" href="http://localhost:3000/login">Sign in to Towpath</a>');
  await list(server, "For members who keep locks.");
  await expect.poll(async () => (await open(server.url, server.label)).text).toContain("who keep locks.");
  expect(asked()).toBe(0);
});

test("GW-16 GW-2 clients see no change: only a browser's request for a page is answered by one", async () => {
  const { server, asked } = await deployCounting();
  const posted = { method: "POST", body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' };
  const requests: RequestInit[] = [
    { headers: { accept: "*/*" } },
    { headers: { accept: "text/event-stream" } },
    { headers: { accept: "application/json, text/event-stream, text/html" } },
    { headers: { ...browser, authorization: "Bearer x" } },
    { headers: { ...browser, "mcp-protocol-version": "2025-06-18" } },
    { headers: { ...browser, origin: "http://localhost:6274" } },
    { headers: { ...browser, "last-event-id": "1" } },
    { ...posted, headers: browser },
    { method: "DELETE", headers: browser },
  ];
  for (const request of requests) {
    const response = await fetch(server.url, request);
    expect([request, response.headers.get("content-type")]).toEqual([request, "application/json"]);
    await response.text();
  }
  expect(asked()).toBe(requests.length);
  const real = await rig.deploy(createMcpListener(), { authMode: "towpath-cloud" });
  const client = await connectModern(real.url, (await storeApiKey(rig, real.organizationId)).bearer);
  expect((await client.listTools()).tools.length).toBeGreaterThan(0);
  await client.close();
});

test("GW-16 UI-5 in a browser the URL is copied by keyboard, guides open, and nothing overflows at 360 px", async () => {
  const { server, asked } = await deployCounting();
  const chrome = await launchChromium();
  onTestFinished(() => chrome.close());
  const context = await chrome.newContext({
    viewport: { width: 360, height: 740 },
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("console", (message) => problems.push(message.text()));
  page.on("pageerror", ({ message }) => problems.push(message));
  await page.goto(server.url.href.replace("127.0.0.1", "localhost"));
  await page.getByRole("button", { name: "Copy" }).first().press("Enter");
  await page.getByRole("button", { name: "Copied" }).waitFor();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe(`http://localhost:8080/${server.label}/mcp`);
  await page.getByText("Claude Code", { exact: true }).click();
  await page.getByText(`claude mcp add --transport http ${server.label}`).waitFor();
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
  // Nor does the browser request an icon: at a server's own host, that would wake the server.
  expect([problems, asked()]).toEqual([[], 0]);
});
