import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { createTestDatabase, setClockBack } from "@towpath/db/testing";
import { expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { builtWeb } from "./built-web.ts";
import { sharedSite } from "./site.ts";
import { newVisitor, seededMember, signedUpVisitor } from "./visitor.ts";
import { startWeb } from "./web-process.ts";

const site = sharedSite();
test("each document has a CSP with its own nonce, and every inline script carries it", async () => {
  const nonces = new Set<string>();
  for (const path of ["/", "/provider/sign-in", "/provider/sign-up", "/no/such/page/at/all"]) {
    const response = await newVisitor(site.url).get(path);
    const policy = response.headers.get("content-security-policy") ?? "";
    if (response.status === 307) continue;
    const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? "";
    expect(nonce).toMatch(/^[A-Za-z0-9+/]{24}$/);
    nonces.add(nonce);
    const script = policy.split("; ").find((part) => part.startsWith("script-src"));
    expect(script).toBe(`script-src 'self' 'nonce-${nonce}'`);
    for (const directive of ["frame-ancestors 'none'", "base-uri 'none'", "object-src 'none'", "form-action 'self'"]) {
      expect(policy).toContain(directive);
    }
    for (const [tag] of (await response.text()).matchAll(/<script(?![^>]*\bsrc=)[^>]*>/g)) {
      expect(tag).toContain(`nonce="${nonce}"`);
    }
  }
  expect(nonces.size).toBeGreaterThan(2);
});

test("every response has the security headers, and those that depend on the session may not be stored", async () => {
  const { visitor, organization } = await seededMember(site.url, site.db);
  for (const path of ["/", "/account", `/${organization.slug}/servers`, "/api/v1/builds/x", "/login"]) {
    const { headers } = await visitor.get(path);
    expect([path, headers.get("x-content-type-options")]).toEqual([path, "nosniff"]);
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("referrer-policy")).toBe("strict-origin-when-cross-origin");
    expect(headers.get("cache-control")).toBe("private, no-store");
  }
});

test("UI-2 a script with the nonce sets the stored theme before the first paint", async () => {
  const html = await (await newVisitor(site.url).get("/")).text();
  const head = html.slice(0, html.indexOf("</head>"));
  expect(head).toMatch(/<script nonce="[^"]+">[^<]*localStorage\.getItem\("theme"\)/);
});

test("AUTH-2 the session cookie is HttpOnly and SameSite=Lax, and its name is unique to the instance", async () => {
  const response = await newVisitor(site.url).submit("/provider/sign-up", {
    firstName: "A",
    lastName: "B",
    email: "cookie@example.com",
    password: "long enough for this",
  });
  const [cookie = ""] = response.headers.getSetCookie();
  expect(cookie).toMatch(/^towpath-[0-9a-f]{16}\.session_token=/);
  expect(cookie).toMatch(/; HttpOnly/);
  expect(cookie).toMatch(/; SameSite=Lax/i);
});

test("the browser's files contain no server code", async () => {
  const directory = join(await builtWeb(), "client", "assets");
  for (const name of await readdir(directory)) {
    if (!name.endsWith(".js")) continue;
    const source = await readFile(join(directory, name), "utf8");
    for (const mark of [
      "DATABASE_URL",
      "TOWPATH_SECRET",
      "towpath/session",
      "pg_notify",
      "better-auth.",
      "INSERT INTO",
    ]) {
      expect([name, mark, source.includes(mark)]).toEqual([name, mark, false]);
    }
  }
});

test("a malformed request gets an error response and affects no other request", async () => {
  const { request } = newVisitor(site.url);
  const { name } = (await signedUpVisitor(site.url)).sessionCookie() ?? {};
  expect((await request("/", { headers: { cookie: `${name}=nonsense` } })).status).toBe(200);
  expect((await request("/", { headers: { "x-big": "x".repeat(20_000) } })).status).toBe(431);
  expect((await request("/%E0%A4%A", {})).status).toBeLessThan(500);
  expect((await request("/_serverFn/no.such", { headers: { "sec-fetch-site": "same-origin" } })).status).toBeLessThan(
    600,
  );
  expect((await request("/healthz", {})).status).toBe(200);
});

test.runIf(isThorough)("the process exits in time after SIGTERM, with a keep-alive connection open", async () => {
  const second = await startWeb({ databaseUrl: site.databaseUrl });
  await (await fetch(`${second.url}/healthz`)).text();
  // Not 1, as of a process that can't stop in time.
  expect((await second.stop()).code).toBe(0);
});

test("OPS-6 a web process whose clock differs from the database's says so when it starts", async () => {
  const database = await createTestDatabase();
  await setClockBack(database.pool, 90);
  const web = await startWeb({ databaseUrl: database.url });
  try {
    await expect.poll(() => web.output()).toMatch(/dashboard's machine is (89|90|91) s ahead of the database's/);
  } finally {
    await web.stop();
    await database.close();
  }
});

test("visitors of the public site load no script of the app, and see the whole page without any", async () => {
  for (const path of ["/", "/pricing", "/blog", "/blog/context-economy", "/blog/no-such-post"]) {
    const html = await (await newVisitor(site.url).get(path)).text();
    expect([path, /\/assets\/[^"]+\.js|modulepreload|<script[^>]+src=/.test(html)]).toEqual([path, false]);
    // React would send parts of a long page hidden, and show them by a script.
    expect([path, html.includes("<template"), html.includes("</html>")]).toEqual([path, false, true]);
  }
});

test("a first visit loads at most 170 kB of script, gzipped", async () => {
  const assets = join(await builtWeb(), "client", "assets");
  for (const path of ["/provider/sign-in", "/new/github-install-success"]) {
    const html = await (await newVisitor(site.url).get(path)).text();
    const loaded = new Set<string>();
    const load = async (name: string): Promise<void> => {
      if (loaded.has(name)) return;
      loaded.add(name);
      const script = await readFile(join(assets, name), "utf8");
      for (const [, imported = ""] of script.matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g)) await load(imported);
    };
    for (const [, name = ""] of html.matchAll(/"\/assets\/([^"]+\.js)"/g)) await load(name);
    expect([...loaded].map((name) => name.replace(/-.*/, ""))).toEqual(expect.arrayContaining(["first", "index"]));
    const sizes = await Promise.all([...loaded].map((name) => stat(join(assets, `${name}.gz`))));
    const kilobytes = sizes.reduce((sum, { size }) => sum + size, 0) / 1000;
    expect([path, Math.max(kilobytes, 170)]).toEqual([path, 170]);
  }
});
