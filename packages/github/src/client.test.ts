import { generateKeyPairSync } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { createGitHub } from "./client.ts";
import type { GitHub } from "./contract.ts";

// A fake GitHub at the network level, for cases that the stand-in lacks: other hosts, rate limits, malformed responses.

type Handler = (request: IncomingMessage, body: string, response: ServerResponse) => void;
type Seen = { readonly path: string; readonly authorization: string | undefined; readonly body: string };

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function upstream(handler: Handler): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      seen.push({ path: request.url ?? "", authorization: request.headers.authorization, body });
      handler(request, body, response);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

function client(url: string): GitHub {
  const key = privateKey.export({ type: "pkcs1", format: "pem" }).toString();
  const credentials = { privateKey: key, clientId: "id", clientSecret: "secret", webhookSecret: "hook" };
  return createGitHub({ appId: "1", appSlug: "app", ...credentials, url, apiUrl: url });
}

function json(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

const isTokenRequest = (request: IncomingMessage) => request.url?.endsWith("/access_tokens") ?? false;
const tokenResponse = (token: string, lifetimeMs = 3_600_000) => ({
  token,
  expires_at: new Date(Date.now() + lifetimeMs).toISOString(),
});

const repository = {
  id: 7,
  name: "tools",
  description: null,
  full_name: "ada/tools",
  private: true,
  default_branch: "main",
  updated_at: "2026-11-01T00:00:00Z",
  html_url: "https://github.com/ada/tools",
  owner: { id: 1, login: "ada" },
};
const address = { installationId: 5, owner: "ada", name: "tools" };

test("GH-2 the token request names one repository and read permissions only", async () => {
  const { url, seen } = await upstream((request, _, response) =>
    isTokenRequest(request) ? json(response, 201, tokenResponse("t")) : json(response, 200, repository),
  );
  await client(url).repository(address);
  expect(seen.map(({ path }) => path)).toEqual(["/app/installations/5/access_tokens", "/repos/ada/tools"]);
  expect(JSON.parse(seen[0]?.body ?? "")).toEqual({
    repositories: ["tools"],
    permissions: { metadata: "read", contents: "read" },
  });
  expect(seen[0]?.authorization).toMatch(/^Bearer [\w-]+\.[\w-]+\.[\w-]+$/);
  expect(seen[1]?.authorization).toBe("Bearer t");
});

test("GH-2 a token is cached for its scope, but not used in its last five minutes", async () => {
  let lifetime = 3_600_000;
  let count = 0;
  const { url, seen } = await upstream((request, _, response) => {
    if (!isTokenRequest(request)) return json(response, 200, repository);
    count += 1;
    json(response, 201, tokenResponse(`t${count}`, lifetime));
  });
  const gitHub = client(url);
  const tokenRequests = () => seen.filter(({ path }) => path.endsWith("/access_tokens")).length;
  await Promise.all([gitHub.repository(address), gitHub.repository(address)]);
  await gitHub.repository(address);
  expect(tokenRequests()).toBe(1);
  lifetime = 4 * 60_000;
  await gitHub.repository({ ...address, name: "other" });
  await gitHub.repository({ ...address, name: "other" });
  expect(tokenRequests()).toBe(3);
});

test("GH-2 a cached token that GitHub rejects is replaced once", async () => {
  let count = 0;
  let revoked = "";
  const { url } = await upstream((request, _, response) => {
    if (isTokenRequest(request)) {
      count += 1;
      return json(response, 201, tokenResponse(`t${count}`));
    }
    if (request.headers.authorization === `Bearer ${revoked}`)
      return json(response, 401, { message: "Bad credentials" });
    json(response, 200, repository);
  });
  const gitHub = client(url);
  await gitHub.repository(address);
  revoked = "t1";
  expect((await gitHub.repository(address)).id).toBe(7);
  expect(count).toBe(2);
});

test("GH-2 the host to which a tarball redirects doesn't get the token", async () => {
  const storage = await upstream((_, __, response) => response.writeHead(200).end("tar"));
  const api = await upstream((request, _, response) => {
    if (isTokenRequest(request)) return json(response, 201, tokenResponse("t"));
    response.writeHead(302, { location: `${storage.url}/archive?sig=1` }).end();
  });
  const sha = "a".repeat(40);
  const stream = await client(api.url).tarball({ ...address, repositoryId: 7, sha });
  expect(await new Response(stream).text()).toBe("tar");
  expect(JSON.parse(api.seen[0]?.body ?? "")).toMatchObject({ repository_ids: [7] });
  expect(api.seen[1]?.authorization).toBe("Bearer t");
  expect(storage.seen).toEqual([{ path: "/archive?sig=1", authorization: undefined, body: "" }]);
});

test("GH-2 no error text contains a token, a key or a query", async () => {
  const { url } = await upstream((request, _, response) => {
    if (isTokenRequest(request)) return json(response, 201, tokenResponse("very-secret-token"));
    json(response, 500, { message: "broken" });
  });
  const error = await client(url)
    .fileExists(address, "a.py", "secret-ref")
    .catch((caught: unknown) => caught);
  const text = JSON.stringify(error, Object.getOwnPropertyNames(error));
  expect(text).toContain("unavailable");
  expect(text).not.toMatch(/very-secret-token|secret-ref|PRIVATE KEY/);
});

test("GH-1 each error status has its code", async () => {
  const cases = [
    [401, {}, "unauthorized"],
    [403, {}, "forbidden"],
    [403, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "4102444800" }, "rate_limited"],
    [403, { "retry-after": "60" }, "rate_limited"],
    [429, {}, "rate_limited"],
    [404, {}, "not_found"],
    [409, {}, "conflict"],
    [422, {}, "invalid"],
    [418, {}, "unexpected"],
    [503, {}, "unavailable"],
  ] as const;
  for (const [status, headers, code] of cases) {
    const { url } = await upstream((_, __, response) => json(response, status, { message: "no" }, headers));
    await expect(client(url).app()).rejects.toMatchObject({ code, status });
  }
});

test("GH-1 a rate limit error says when the limit ends", async () => {
  const { url } = await upstream((_, __, response) => json(response, 429, {}, { "retry-after": "60" }));
  const asked = Date.now();
  const error = await client(url)
    .app()
    .catch((caught: unknown) => caught);
  const at = (error as { retryAfter: Date }).retryAfter.getTime();
  expect(at).toBeGreaterThanOrEqual(asked + 60_000);
  expect(at).toBeLessThanOrEqual(Date.now() + 60_000);
});

test("GH-1 a response of an unexpected shape or without JSON is an error that says where", async () => {
  const shape = await upstream((_, __, response) => json(response, 200, { id: "one", slug: "s" }));
  await expect(client(shape.url).app()).rejects.toMatchObject({
    code: "unexpected",
    message: expect.stringContaining("id, name"),
  });
  const html = await upstream((_, __, response) => response.writeHead(200).end("<html>"));
  await expect(client(html.url).app()).rejects.toMatchObject({ code: "unexpected" });
});

test("GH-1 reads are retried when GitHub is briefly unavailable, writes are not", async () => {
  let failures = 2;
  const { url, seen } = await upstream((_, __, response) => {
    failures -= 1;
    if (failures >= 0) return json(response, 502, {});
    json(response, 200, { id: 1, slug: "s", name: "n", html_url: "u" });
  });
  expect((await client(url).app()).id).toBe(1);
  expect(seen).toHaveLength(3);
  failures = 1;
  await expect(client(url).exchangeCode({ code: "c" })).rejects.toMatchObject({ code: "unavailable" });
  expect(seen).toHaveLength(4);
});

test("GH-1 a repository that the installation has no access to is not found", async () => {
  const { url } = await upstream((_, __, response) =>
    json(response, 422, { message: "not accessible to the parent installation" }),
  );
  await expect(client(url).repository(address)).rejects.toMatchObject({ code: "not_found" });
});

test("GH-1 no name leads to another endpoint", async () => {
  const { url, seen } = await upstream((_, __, response) => json(response, 201, tokenResponse("t")));
  await expect(client(url).branch(address, "..")).rejects.toMatchObject({ code: "invalid" });
  await expect(client(url).repository({ ...address, owner: ".." })).rejects.toMatchObject({ code: "invalid" });
  await client(url)
    .branch(address, "../../user")
    .catch(() => {});
  expect(seen.map(({ path }) => path)).toContain("/repos/ada/tools/branches/..%2F..%2Fuser");
});

test("GH-1 when the caller aborts, a download ends with the caller's reason", async () => {
  const { url } = await upstream((request, _, response) => {
    if (isTokenRequest(request)) return json(response, 201, tokenResponse("t"));
    response.writeHead(200).write("begin");
  });
  const abort = new AbortController();
  const stream = await client(url).tarball({ ...address, repositoryId: 7, sha: "a".repeat(40) }, abort.signal);
  setTimeout(() => abort.abort(new Error("build canceled")), 50);
  await expect(new Response(stream).text()).rejects.toThrow("build canceled");
});

test("GH-1 URLs for browsers contain state and redirect", () => {
  const gitHub = client("https://github.example");
  const authorize = new URL(gitHub.userAuthorizeUrl({ state: "a&b", redirectUri: "http://localhost:3000/cb" }));
  expect(authorize.pathname).toBe("/login/oauth/authorize");
  expect(Object.fromEntries(authorize.searchParams)).toEqual({
    client_id: "id",
    state: "a&b",
    redirect_uri: "http://localhost:3000/cb",
  });
  expect(gitHub.installUrl("a&b")).toBe("https://github.example/apps/app/installations/new?state=a%26b");
});
