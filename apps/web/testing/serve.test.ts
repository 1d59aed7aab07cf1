import { readdir, stat } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { builtWeb } from "./built-web.ts";
import { openSite } from "./site.ts";
import { newVisitor, samplePassword } from "./visitor.ts";

const site = openSite();
/** Sends bytes and returns all that the server sends before it closes the connection. */
function raw(bytes: string): Promise<string> {
  const { port } = new URL(site.url);
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(Number(port), "127.0.0.1", () => socket.write(bytes));
    socket.on("data", (chunk) => {
      answer += chunk;
    });
    socket.on("close", () => resolve(answer));
    socket.on("error", reject);
  });
}

const close = "Connection: close\r\n\r\n";

async function hashedScript(): Promise<string> {
  const names = await readdir(join(await builtWeb(), "client", "assets"));
  const name = names.find((each) => each.endsWith(".js"));
  return `/assets/${name}`;
}

test("a hashed file is cached for a year and compressed as requested; others are revalidated by ETag", async () => {
  const path = await hashedScript();
  const { size } = await stat(join(await builtWeb(), "client", path));
  for (const encoding of ["br", "gzip", "identity"]) {
    const { status, headers, body } = await fetch(site.url + path, { headers: { "accept-encoding": encoding } });
    await body?.cancel();
    expect([encoding, status]).toEqual([encoding, 200]);
    expect(headers.get("content-encoding")).toBe(encoding === "identity" ? null : encoding);
    expect(headers.get("vary")).toMatch(/accept-encoding/i);
    expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(headers.get("content-type")).toMatch(/^text\/javascript/);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    if (encoding === "identity") expect(Number(headers.get("content-length"))).toBe(size);
  }
  const first = await fetch(`${site.url}/favicon.svg`);
  expect(first.headers.get("cache-control")).toBe("no-cache");
  const etag = first.headers.get("etag") ?? "";
  const again = await fetch(`${site.url}/favicon.svg`, {
    headers: { "if-none-match": etag, "cache-control": "no-cache" },
  });
  expect([again.status, await again.text()]).toEqual([304, ""]);
});

test("HEAD has the headers of GET and no body; other methods never get a file", async () => {
  const path = await hashedScript();
  const answer = await raw(`HEAD ${path} HTTP/1.1\r\nHost: x\r\n${close}`);
  expect(answer).toMatch(/^HTTP\/1.1 200 /);
  expect(answer).toMatch(/content-length: [1-9]/i);
  expect(answer.endsWith("\r\n\r\n")).toBe(true);
  const post = await newVisitor(site.url).request("/favicon.svg", { method: "POST", body: "x" });
  expect(await post.text()).not.toContain("<svg");
});

test.each([
  "/../server/server.js",
  "/assets/../../server/server.js",
  "/%2e%2e/server/server.js",
  "/assets/..%2f..%2fserver%2fserver.js",
])("no path leads out of the directory of static files: %s", async (path) => {
  // Raw bytes, because a client's URL parser would resolve the dots.
  const answer = await raw(`GET ${path} HTTP/1.1\r\nHost: x\r\n${close}`);
  expect(answer).not.toContain("createServerEntry");
  expect(answer).toMatch(/^HTTP\/1.1 [34]\d\d /);
});

test("GW-9 a malformed request and one for another origin are refused", async () => {
  for (const start of ["nonsense\r\n\r\n", `GET http://evil.example/ HTTP/1.1\r\nHost: x\r\n${close}`]) {
    expect(await raw(start)).toMatch(/^HTTP\/1.1 400 /);
  }
  expect(await raw(`GET / HTTP/1.1\r\nHost: x\r\nX-Big: ${"x".repeat(20_000)}\r\n${close}`)).toMatch(/^HTTP\/1.1 431 /);
});

test("GW-9 an address with NUL is refused, wherever it leads", async () => {
  for (const path of ["/status/%00", "/app/a%00", "/api/badge/%00", "/api/og/%00", "/v0.1/servers?search=%00"])
    expect([path, (await fetch(`${site.url}${path}`)).status]).toEqual([path, 400]);
});

test.runIf(isThorough)("GW-9 a client that never finishes its headers is disconnected", async () => {
  expect(await raw("GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ")).toMatch(/^(HTTP\/1.1 408 |$)/);
});

test("the Host header does not influence links", async () => {
  const answer = await raw(`GET / HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: evil.example\r\n${close}`);
  expect(answer).toContain(`<link rel="canonical" href="${site.url}/"`);
  expect(answer).not.toContain("evil.example");
});

test("compression keeps cookies and the whole document", async () => {
  const fields = {
    firstName: "A",
    lastName: "B",
    email: `${crypto.randomUUID()}@example.com`,
    password: samplePassword,
  };
  const headers = { "accept-encoding": "br, gzip" };
  const made = await newVisitor(site.url).submit("/provider/sign-up", fields, headers);
  expect(made.headers.getSetCookie().length).toBeGreaterThan(0);
  const page = await newVisitor(site.url).get("/", headers);
  expect([page.headers.get("content-encoding"), page.status]).toEqual(["br", 200]);
  expect(await page.text()).toContain("</html>");
});
