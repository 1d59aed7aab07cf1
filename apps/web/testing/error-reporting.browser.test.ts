import { createServer, type IncomingMessage, type Server } from "node:http";
import { freePort } from "@towpath/role/testing";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { newPage, openBrowser, passTimeUntil, signIn, untilHydrated } from "./browser.ts";
import { openSite, sharedSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

// The service that the reports go to, and the host of the analytics script, are one small server here.

type Received = { readonly path: string; readonly headers: IncomingMessage["headers"]; readonly body: string };
const received: Received[] = [];
let service: Server;
let serviceUrl: string;

const site = openSite(async () => {
  const port = await freePort();
  serviceUrl = `http://localhost:${port}`;
  service = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    received.push({ path: request.url ?? "", headers: request.headers, body });
    const isScript = request.url === "/count.js";
    response.writeHead(200, {
      "content-type": isScript ? "text/javascript" : "application/json",
      "access-control-allow-origin": "*",
      "access-control-allow-headers": "*",
      "cross-origin-resource-policy": "cross-origin",
    });
    response.end(isScript ? "window.counted = document.currentScript.dataset.domain;" : "{}");
  });
  await new Promise<void>((done) => service.listen(port, "127.0.0.1", done));
  return {
    TOWPATH_ERROR_REPORTING_DSN: `http://key@localhost:${port}/7`,
    TOWPATH_ANALYTICS_SCRIPT: `${serviceUrl}/count.js`,
    TOWPATH_ANALYTICS_ATTRIBUTES: "data-domain=towpath.example",
  };
});
const plain = sharedSite();
const browser = openBrowser();
let owner: Member;

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
});
afterAll(() => new Promise<void>((done) => service.close(() => done())));

async function signedIn(url: string, member: Member): Promise<{ readonly page: Page; readonly problems: string[] }> {
  const context = await browser.newContext();
  await signIn(context, url, member);
  const page = await newPage(context);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" && !/status of 500/.test(message.text())) problems.push(message.text());
  });
  return { page, problems };
}

const envelopes = () => received.filter(({ path }) => path.startsWith("/api/7/envelope/")).map(({ body }) => body);

test.runIf(isThorough)(
  "ERR-6 an error that a page shows is reported once configured, without personal data; requests to this site are traced",
  async () => {
    const { page, problems } = await signedIn(site.url, owner);
    await page.clock.install();
    await page.goto(`${site.url}/account`);
    await expect.poll(() => page.evaluate(() => (globalThis as { counted?: string }).counted)).toBe("towpath.example");
    await page.waitForFunction(() => "__SENTRY__" in globalThis);
    const traced: (string | undefined)[] = [];
    await page.route(/servers\.getServers/, async (route) => {
      traced.push(route.request().headers()["sentry-trace"]);
      await route.fulfill({ status: 500, contentType: "text/plain", body: "the lock gate is stuck" });
    });
    await page.goto(`${site.url}/${owner.organization.slug}/settings/preferences`);
    await page.waitForFunction(() => "__SENTRY__" in globalThis);
    await untilHydrated(page);
    await page.getByRole("link", { name: "Servers" }).first().click();
    await passTimeUntil(page, page.getByText("the lock gate is stuck").first());
    await expect.poll(() => envelopes().some((body) => body.includes("the lock gate is stuck"))).toBe(true);
    expect(traced[0]).toMatch(/^[0-9a-f]{32}-[0-9a-f]{16}/);
    const sent = envelopes().join("\n");
    expect(sent).toContain('"environment":"local"');
    expect(sent).not.toMatch(/example\.com|Lovelace|"ip_address":"(?!\{\{auto\}\})/);
    expect(received.filter(({ headers }) => headers["sentry-trace"] !== undefined)).toEqual([]);
    expect(problems.filter((text) => /Content Security Policy|hydrat/i.test(text))).toEqual([]);
    await page.context().close();
  },
);

test.runIf(isThorough)(
  "ERR-6 one visit in ten is traced, one in a thousand replayed, and each with an error",
  async () => {
    const before = envelopes().length;
    /** A visit in which every random number is this one, with its requests. */
    const visit = async (random: number) => {
      const { page } = await signedIn(site.url, owner);
      let sent = "";
      page.on("request", (request) => {
        if (request.url().startsWith(serviceUrl)) sent += request.postDataBuffer()?.toString("latin1") ?? "";
      });
      await page.addInitScript(`Math.random = () => ${random}`);
      await page.goto(`${site.url}/account`);
      await page.waitForFunction(() => "__SENTRY__" in globalThis);
      // A replay is sent once it has lasted five seconds.
      const sends = (part: string) => expect.poll(() => sent.includes(part), { timeout: 30_000 }).toBe(true);
      return { page, sends, sent: () => sent };
    };
    const traced = '"type":"transaction"';
    const often = async () => {
      const { sends } = await visit(0.0005);
      await Promise.all([sends(traced), sends('"replay_type":"session"')]);
    };
    const seldom = async () => {
      const { page, sends, sent } = await visit(0.05);
      await sends(traced);
      await page.evaluate(() => void setTimeout(() => Promise.reject(new Error("the sluice is stuck"))));
      await sends('"replay_type":"buffer"');
      expect(sent()).not.toContain('"replay_type":"session"');
    };
    const never = async () => {
      const { page, sends, sent } = await visit(0.5);
      await page.evaluate(() => void setTimeout(() => Promise.reject(new Error("the gate is stuck"))));
      await Promise.all([sends("the gate is stuck"), sends('"replay_type":"buffer"')]);
      // When the page closes, it reports what it didn't send, and why.
      await page.goto("about:blank");
      const reportsDropped = (body: string) => /"reason":"sample_rate","category":"transaction"/.test(body);
      await expect.poll(() => envelopes().slice(before).some(reportsDropped), { timeout: 30_000 }).toBe(true);
      expect(sent()).not.toContain(traced);
    };
    await Promise.all([often(), seldom(), never()]);
  },
);

test("ERR-6 the content security policy names the service and the script's host where they are configured, and only there", async () => {
  const policyOf = async (url: string) => (await fetch(url)).headers.get("content-security-policy") ?? "";
  const configured = await policyOf(site.url);
  expect(configured).toContain(`connect-src 'self' ${serviceUrl}`);
  expect(configured).toMatch(new RegExp(`script-src 'self' 'nonce-[^']+' ${serviceUrl};`));
  expect(configured).toContain("worker-src 'self' blob:");
  const bare = await policyOf(plain.url);
  expect(bare).toContain("connect-src 'self';");
  expect(bare).toMatch(/script-src 'self' 'nonce-[^']+';/);
  expect(bare).not.toContain("worker-src");
});

test("ERR-6 without settings nothing is loaded or sent", async () => {
  const { page } = await signedIn(plain.url, await seededMember(plain.url, plain.db));
  const hosts = new Set<string>();
  page.on("request", (request) => hosts.add(new URL(request.url()).host));
  await page.goto(`${plain.url}/account`, { waitUntil: "networkidle" });
  await expect
    .poll(() => page.evaluate(() => "__SENTRY__" in globalThis || "towpathErrorReporting" in globalThis))
    .toBe(false);
  expect([...hosts]).toEqual([new URL(plain.url).host]);
  await page.context().close();
});
