import { type Schema, Validator } from "@cfworker/json-schema";
import { newId } from "@towpath/core/ids";
import { sampleManifest, seedLiveProject, seedOrganization, seedProject } from "@towpath/core/testing";
import { instance, project, route } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { openSite } from "./site.ts";
import { callServerFunction, newVisitor } from "./visitor.ts";

const site = openSite((url) => ({ TOWPATH_URL: url, TOWPATH_SERVER_URL: "https://{name}.servers.example" }));
const get = (path: string) => newVisitor(site.url).get(path);

beforeAll(async () => {
  const organization = await seedOrganization(site.db);
  const server = { name: "lock", version: "2.0.0", title: 'Lock "keeper" <b>' };
  const manifest = sampleManifest({ server });
  const lock = {
    name: "lock-keeper",
    isPublic: true,
    authMode: "towpath-public",
    description: "Knows <i>every</i> lock.",
  };
  await seedLiveProject(site.db, organization, lock, { manifest, sequences: [1, 2, 3] });
  const long = {
    name: "members-one",
    isPublic: true,
    authMode: "towpath-cloud",
    description: "long ".repeat(90).trim(),
  };
  await seedLiveProject(site.db, organization, long);
  await seedLiveProject(site.db, organization, { name: "private-one", isPublic: false });
  await seedProject(site.db, organization, { name: "not-live-yet", isPublic: true });
});

test("PUB-10 the public page has registry data in its head, its tools as text, and how to connect", async () => {
  const response = await get("/app/Lock-Keeper");
  const html = await response.text();
  expect(response.status).toBe(200);
  const attribute = (pattern: RegExp) => pattern.exec(html)?.[1];
  expect(attribute(/<title>([^<]*)<\/title>/)).toBe("Lock &quot;keeper&quot; &lt;b&gt; · MCP server on Towpath");
  expect(attribute(/<meta name="description" content="([^"]*)"/)).toBe("Knows &lt;i&gt;every&lt;/i&gt; lock.");
  expect(attribute(/<meta name="theme-color" content="([^"]*)"/)).toMatch(/^#[0-9a-f]{6}$/);
  expect(html.match(/<link rel="canonical" href="([^"]*)"/g)).toEqual([
    `<link rel="canonical" href="${site.url}/app/lock-keeper"`,
  ]);
  expect(attribute(/<link rel="icon" href="(data:[^"]*)"/)).toMatch(/^data:image\/svg\+xml,%3Csvg/);
  expect(attribute(/<meta property="og:image" content="([^"]*)"/)).toBe(`${site.url}/api/og/lock-keeper`);
  expect(html).not.toMatch(/<b>|<i>every/);
  for (const shown of [
    "echo",
    "Repeat the text",
    "1<!-- --> <!-- -->argument",
    "https://lock-keeper.servers.example/mcp",
    "Open to anyone",
  ]) {
    expect([shown, html.includes(shown)]).toEqual([shown, true]);
  }
  expect(html).toMatch(/href="cursor:\/\/anysphere\.cursor-deeplink\/mcp\/install\?name=lock-keeper&amp;config=/);
});

test("PUB-10 a public project that isn't live says so, and has its name as its only title", async () => {
  const html = await (await get("/app/not-live-yet")).text();
  expect(html).toContain("Its tools appear here after the first successful build.");
  expect(html.match(/>not-live-yet</g)).toHaveLength(1);
});

test.each(["private-one", "no-such-project", "%3Cscript%3E"])(
  "PUB-11 /app/%s is the 404 page, the same for private and unknown",
  async (name) => {
    const response = await get(`/app/${name}`);
    const html = await response.text();
    expect([response.status, /<title>([^<]*)/.exec(html)?.[1]]).toEqual([404, "404 - Not Found"]);
    expect(html).toContain('<meta name="description" content="The page you&#x27;re looking for doesn&#x27;t exist."');
    expect(html).toContain('<meta name="robots" content="noindex"');
    const body = (text: string) => text.replace(/nonce="[^"]*"|"csp-nonce" content="[^"]*"/g, "");
    const unknown = await (await get("/app/nobody-has-this")).text();
    expect(body(html) === body(unknown)).toBe(true);
  },
);

test("PUB-10 PUB-16 registry data by project name is a GET call that answers ok and data", async () => {
  const call = (projectName: string) =>
    callServerFunction(newVisitor(site.url), "registry.getRegistryData", "GET", { projectName });
  const { status, text } = await call("lock-keeper");
  expect(status).toBe(200);
  for (const field of [
    "ok",
    "data",
    "projectName",
    "title",
    "description",
    "meta",
    "themeColor",
    "canonicalUrl",
    "favicon",
  ]) {
    expect([field, text.includes(`"${field}"`)]).toEqual([field, true]);
  }
  const [hidden, unknown] = [await call("private-one"), await call("no-such-project")];
  expect([hidden.status, hidden.text]).toEqual([unknown.status, unknown.text]);
  expect(hidden.text).not.toContain("private-one");
});

/** Width and height of a PNG image, from its header. */
function sizeOfPng(bytes: Buffer): readonly [number, number] {
  expect(bytes.subarray(0, 8).toString("hex")).toBe("89504e470d0a1a0a");
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
}

test.each(["/api/og", "/api/og/lock-keeper", "/api/og/members-one", "/api/og/blog/context-economy"])(
  "PUB-12 %s is an image of 1200 × 630 that caches and other sites may use",
  async (path) => {
    const response = await get(path);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/png"]);
    expect(response.headers.get("cache-control")).toBe("public, max-age=3600");
    expect(response.headers.get("cross-origin-resource-policy")).toBe("cross-origin");
    const image = Buffer.from(await response.arrayBuffer());
    expect(sizeOfPng(image)).toEqual([1200, 630]);
    expect(image.length).toBeGreaterThan(5000);
  },
);

test("PUB-12 images of private and unknown projects and posts don't exist, and many at once are answered", async () => {
  for (const path of ["/api/og/private-one", "/api/og/no-such-one", "/api/og/blog/no-such-post"]) {
    expect([path, (await get(path)).status]).toEqual([path, 404]);
  }
  const many = await Promise.all(Array.from({ length: 40 }, () => get("/api/og/lock-keeper")));
  expect(many.map(({ status }) => status)).toEqual(many.map(() => 200));
});

test.runIf(isThorough)("PUB-15 the sitemap lists the public pages, and robots.txt names it", async () => {
  const robots = await get("/robots.txt");
  expect([robots.status, robots.headers.get("content-type")]).toEqual([200, "text/plain; charset=utf-8"]);
  expect(await robots.text()).toContain(`\nSitemap: ${site.url}/sitemap.xml\n`);
  const xml = await (await get("/sitemap.xml")).text();
  const listed = [...xml.matchAll(/<loc>([^<]*)<\/loc>/g)].map(([, address = ""]) => address);
  expect(listed).toContain(`${site.url}/app/lock-keeper`);
  expect(listed.filter((address) => /private-one|not-live-yet/.test(address))).toEqual([]);
  for (const address of listed)
    expect([address, (await get(new URL(address).pathname)).status]).toEqual([address, 200]);
});

// The registry's specification of `ServerResponse` (revision 2025-12-11 of server.json).
const string = (more: Schema = {}): Schema => ({ type: "string", ...more });
const time = string({ format: "date-time" });
const official = "io.modelcontextprotocol.registry/official";
const serverResponse: Schema = {
  type: "object",
  required: ["server", "_meta"],
  properties: {
    server: {
      type: "object",
      required: ["$schema", "name", "description", "version", "remotes"],
      properties: {
        $schema: { const: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json" },
        name: string({ minLength: 3, maxLength: 200, pattern: "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$" }),
        title: string({ minLength: 1, maxLength: 100 }),
        description: string({ minLength: 1, maxLength: 100 }),
        version: string({ maxLength: 255, pattern: "^\\d+\\.\\d+\\.\\d+$" }),
        websiteUrl: string({ format: "uri" }),
        remotes: {
          type: "array",
          items: {
            type: "object",
            required: ["type", "url"],
            properties: {
              type: { const: "streamable-http" },
              url: string({ pattern: "^https?://[^\\s]+$" }),
              headers: {
                type: "array",
                items: { type: "object", required: ["name"], properties: { isSecret: { type: "boolean" } } },
              },
            },
          },
        },
      },
    },
    _meta: {
      type: "object",
      required: [official],
      properties: {
        [official]: {
          type: "object",
          required: ["status", "publishedAt", "isLatest"],
          additionalProperties: false,
          properties: {
            status: { enum: ["active", "deprecated", "deleted"] },
            publishedAt: time,
            updatedAt: time,
            isLatest: { type: "boolean" },
          },
        },
      },
    },
  },
};

type Listed = {
  readonly servers: readonly {
    readonly server: { readonly name: string; readonly version: string; readonly remotes: readonly object[] };
  }[];
  readonly metadata: { readonly count: number; readonly nextCursor?: string };
};
const list = async (query = "") => (await (await get(`/v0.1/servers${query}`)).json()) as Listed;
const namesOf = ({ servers }: Listed) => servers.map(({ server }) => `${server.name} ${server.version}`);
const all = [
  "localhost/lock-keeper 1.0.3",
  "localhost/lock-keeper 1.0.2",
  "localhost/lock-keeper 1.0.1",
  "localhost/members-one 1.0.1",
];

test("PUB-14 the registry lists versions of public servers in the form of the specification", async () => {
  const found = await list();
  expect(namesOf(found)).toEqual(all);
  expect(found.metadata).toEqual({ count: 4 });
  const validator = new Validator(serverResponse, "2020-12", false);
  for (const server of found.servers) expect(validator.validate(server).errors).toEqual([]);
  expect(found.servers[0]?.server.remotes).toEqual([
    { type: "streamable-http", url: "https://lock-keeper.servers.example/mcp" },
  ]);
  expect(found.servers[3]?.server.remotes).toMatchObject([{ headers: [{ name: "Authorization", isSecret: true }] }]);
  expect((await get("/v0.1/servers")).headers.get("access-control-allow-origin")).toBe("*");
});

test("PUB-14 pages follow each other by cursor, each version once", async () => {
  const seen: string[] = [];
  let query = "?limit=1";
  for (let page = 0; page < 10 && query; page++) {
    const found = await list(query);
    seen.push(...namesOf(found));
    const { nextCursor } = found.metadata;
    query = nextCursor ? `?limit=1&cursor=${encodeURIComponent(nextCursor)}` : "";
  }
  expect(seen).toEqual(all);
});

test("PUB-14 search, updated_since and version narrow the list", async () => {
  expect(namesOf(await list("?version=latest"))).toEqual([all[0], all[3]]);
  expect(namesOf(await list("?version=1.0.2"))).toEqual([all[1]]);
  expect(namesOf(await list("?version=2.0.0"))).toEqual([]);
  expect(namesOf(await list("?search=MEMBERS"))).toEqual([all[3]]);
  expect(namesOf(await list("?search=localhost%2Fmembers"))).toEqual([all[3]]);
  expect(namesOf(await list("?search=private"))).toEqual([]);
  const soon = new Date(Date.now() + 3_600_000);
  expect(namesOf(await list(`?updated_since=${soon.toISOString()}`))).toEqual([]);
  await site.db
    .update(project)
    .set({ updatedAt: new Date(soon.getTime() + 1000) })
    .where(eq(project.name, "members-one"));
  expect(namesOf(await list(`?updated_since=${soon.toISOString()}`))).toEqual([all[3]]);
});

test("PUB-14 one server's versions and one version, by encoded name; latest is the live one", async () => {
  const versions = (await (await get("/v0.1/servers/localhost%2Flock-keeper/versions")).json()) as Listed;
  expect(namesOf(versions)).toEqual(all.slice(0, 3));
  for (const [version, expected] of [
    ["latest", "1.0.3"],
    ["1.0.1", "1.0.1"],
  ] as const) {
    const found = (await (
      await get(`/v0.1/servers/localhost%2Flock-keeper/versions/${version}`)
    ).json()) as Listed["servers"][number];
    expect([version, found.server.version]).toEqual([version, expected]);
  }
});

test.each([
  ["/v0.1/servers/localhost%2Fprivate-one/versions", 404],
  ["/v0.1/servers/localhost%2Fno-such-one/versions", 404],
  ["/v0.1/servers/com.elsewhere%2Flock-keeper/versions", 404],
  ["/v0.1/servers/lock-keeper/versions", 404],
  ["/v0.1/servers/localhost%2Flock-keeper/versions/9.9.9", 404],
  ["/v0.1/servers/localhost%2Flock-keeper/versions/1.0.99", 404],
  ["/v0.1/servers?limit=0", 400],
  ["/v0.1/servers?limit=many", 400],
  ["/v0.1/servers?cursor=nonsense", 400],
  ["/v0.1/servers?updated_since=yesterday", 400],
])("PUB-14 %s answers %i with an error in the specification's form", async (path, status) => {
  const response = await get(path);
  expect([path, response.status]).toEqual([path, status]);
  expect(await response.json()).toEqual({
    error: expect.stringMatching(/^(Server not found|Invalid parameter \w+: must be)/),
  });
});

test("PRJ-15 a badge says how a public server is doing; private and unknown ones have the same one", async () => {
  const badge = async (name: string) => {
    const response = await get(`/api/badge/${name}`);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/svg+xml"]);
    expect(response.headers.get("cache-control")).toBe("public, max-age=60");
    return response.text();
  };
  const titleOf = async (name: string) => /<title>(.*)<\/title>/.exec(await badge(name))?.[1];
  expect(await titleOf("Lock-Keeper")).toBe("lock-keeper: asleep");
  expect(await titleOf("not-live-yet")).toBe("not-live-yet: not live yet");
  const [live] = await site.db
    .select({ deploymentId: route.deploymentId })
    .from(route)
    .where(eq(route.label, "lock-keeper"));
  const process = { id: newId(), deploymentId: live?.deploymentId ?? "" };
  for (const [state, text] of [
    ["ready", "live"],
    ["frozen", "asleep"],
    ["crashed", "failing"],
  ] as const) {
    await site.db.delete(instance);
    await site.db.insert(instance).values({ ...process, state });
    expect(await titleOf("lock-keeper")).toBe(`lock-keeper: ${text}`);
  }
  const unknown = await badge("no-such-server");
  for (const other of ["private-one", "%3Cscript%3E", "settings"]) expect(await badge(other)).toBe(unknown);
  expect(unknown).not.toMatch(/no-such|script|href|style/);
});
