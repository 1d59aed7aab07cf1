import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Role } from "@towpath/core/context";
import { newId } from "@towpath/core/ids";
import { createApiKey } from "@towpath/core/tenancy/api-key";
import { testContext } from "@towpath/core/testing";
import { auditLog, member } from "@towpath/db/schema";
import { type GitServer, makeRepository, serveGitRepositories } from "@towpath/git/testing";
import { and, eq } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { openPackageIndex } from "./package-index.ts";
import { openCases } from "./rest-role-cases.ts";
import { type Caller, callers, expectedOf, mayDo } from "./rest-role-table.ts";
import { openSite, startRunner } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

const index = openPackageIndex({ "shop-mcp": ["1.9.0"] });
const registry = createServer((_, response) => {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ servers: [], metadata: { count: 0 } }));
});
const directory = await mkdtemp(join(tmpdir(), "towpath-roles-"));
let runner: Awaited<ReturnType<typeof startRunner>>;
let git: GitServer;
beforeAll(async () => {
  await new Promise<void>((listening) => registry.listen(0, "127.0.0.1", listening));
  await makeRepository(join(directory, "acme/weather"), { "server.py": "mcp = None\n" });
  git = await serveGitRepositories(directory);
  runner = await startRunner(directory);
});
const site = openSite(() => ({
  TOWPATH_RUN_DIR: directory,
  TOWPATH_DNS_SERVERS: "127.0.0.1:1",
  TOWPATH_EXTERNAL_NETWORKS: "127.0.0.0/8",
  TOWPATH_REGISTRY_URL: `http://127.0.0.1:${(registry.address() as AddressInfo).port}`,
  UV_DEFAULT_INDEX: index.url(),
}));
afterAll(async () => {
  await git?.close();
  await runner?.stop();
  await new Promise((closed) => registry.close(closed));
  await rm(directory, { recursive: true, force: true });
});

/** Permissions that a key of no role has (docs/rest.md). */
const notByKeys = [
  "apiKey.manage",
  "member.manage",
  "organization.manage",
  "workload.manage",
  "signInIssuer.manage",
  "adminJwt.manage",
];

const outsiders: readonly Caller[] = ["nobody", "former member", "stranger"];

/** By default the lowest who may and the highest who may not, where a mistake shows, and one outsider after another. */
function callersOf(name: string, at: number): readonly Caller[] {
  if (isThorough) return callers;
  const isDone = (caller: Caller) => expectedOf(caller, name) === "done";
  const lowest = callers.find(isDone);
  const highest = callers.findLast((caller) => !isDone(caller) && !outsiders.includes(caller));
  const chosen = [outsiders[at % outsiders.length], highest, lowest];
  return callers.filter((caller) => chosen.includes(caller));
}

type Operation = { readonly id: string; readonly method: string; readonly path: string };
let owner: Member;
let operations: readonly Operation[];
const credentials = new Map<Caller, string | null>();

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  const stranger = await seededMember(site.url, site.db);
  const { paths } = (await (await fetch(`${site.url}/api/v1/openapi.json`)).json()) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
  };
  operations = Object.entries(paths).flatMap(([path, of]) =>
    Object.entries(of).map(([method, { operationId }]) => ({ id: operationId, method: method.toUpperCase(), path })),
  );
  credentials.set("nobody", null);
  credentials.set("operator", site.operatorToken);
  credentials.set("owner", await keyOf(owner.userId));
  credentials.set("organization's key", await keyOf(owner.userId, { kind: "organization" }));
  credentials.set("stranger", await keyOf(stranger.userId, { orgSlug: stranger.organization.slug }));
  for (const role of ["viewer", "member", "admin"] as const) credentials.set(role, await keyOfNew(role));
  credentials.set("former member", await keyOfNew(null));
}, 600_000);

async function keyOf(userId: string, more: object = {}): Promise<string> {
  const ctx = testContext(site.db, { kind: "user", userId, ipAddress: null });
  const input = { orgSlug: owner.organization.slug, kind: "personal", name: "CI", scope: "manage", ...more } as const;
  return (await createApiKey({ ctx, input })).key;
}

/** Viewers can't make keys: they have those of their former role. */
async function keyOfNew(role: Role | null): Promise<string> {
  const { userId } = await seededMember(site.url, site.db);
  const row = { id: newId(), organizationId: owner.organization.id, userId, role: "owner" };
  await site.db.insert(member).values(row);
  const key = await keyOf(userId);
  const membership = and(eq(member.id, row.id), eq(member.userId, userId));
  if (role === null) await site.db.delete(member).where(membership);
  else await site.db.update(member).set({ role }).where(membership);
  return key;
}

async function send(by: string | null, method: string, path: string, body?: object | Uint8Array) {
  const isArchive = body instanceof Uint8Array;
  const response = await fetch(`${site.url}/api/v1${path}`, {
    method,
    headers: {
      ...(by === null ? {} : { authorization: `Bearer ${by}` }),
      "content-type": isArchive ? "application/zip" : "application/json",
    },
    ...(body === undefined ? {} : { body: isArchive ? (body as BodyInit) : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, text };
}

async function ask(method: string, path: string, body?: object | Uint8Array): Promise<never> {
  const { status, text } = await send(site.operatorToken, method, path, body);
  if (status !== 200) throw new Error(`${method} ${path} answered ${status}: ${text}`);
  return JSON.parse(text) as never;
}

test("AUTH-4 OPS-4 every operation has its row in the table of roles, and every row an operation", async () => {
  const rows = [...mayDo.keys()].map((name) => name.split("/")[0] ?? "");
  expect([...new Set(rows)].toSorted()).toEqual(operations.map(({ id }) => id).toSorted());
});

test("AUTH-4 OPS-4 the documentation gives each operation to the roles that the table does", async () => {
  const read = (name: string) => readFile(new URL(`../../../docs/${name}.md`, import.meta.url), "utf8");
  const heads = (await read("roles")).match(/\| permission \| allows \| (.+) \|/)?.[1]?.split(" | ") ?? [];
  const rolesOf = new Map(
    [...(await read("roles")).matchAll(/^\| `([\w.]+)` \| [^|]+ \|(.+)\|$/gm)].map(
      ([, permission = "", cells = ""]) => [
        permission,
        heads.filter((_, at) => cells.split("|")[at]?.trim() === "yes").toSorted(),
      ],
    ),
  );
  const documented = new Map(
    [...(await read("rest")).matchAll(/^\| `(\S+) \/api\/v1(\S+)` \| `(\S+)` \|/gm)].map(
      ([, method, path, permission = ""]) => [`${method} ${path}`, permission],
    ),
  );
  const wrong = operations.flatMap(({ id, method, path }) => {
    const permission = documented.get(`${method} ${path}`) ?? "";
    const cases = [...mayDo].filter(([name]) => name.split("/")[0] === id).flatMap(([, may]) => may);
    const people = heads.filter((role) => cases.some((caller) => caller === role)).toSorted();
    const expected = ["operator", ...notByKeys].includes(permission)
      ? []
      : (rolesOf.get(permission) ?? heads.toSorted());
    return people.join() === expected.join() ? [] : [{ id, permission, people, expected }];
  });
  expect([heads.length, wrong]).toEqual([4, []]);
});

test("AUTH-4 OPS-4 ERR-1 over REST each role, key, stranger and nobody may do what the table of roles says, and a refused call changes nothing", async () => {
  const cases = await openCases(site, owner, ask, `${git.url}/acme/weather`);
  expect(cases.names.filter((name) => !mayDo.has(name))).toEqual([]);
  const entries = () => site.db.$count(auditLog, eq(auditLog.organizationId, owner.organization.id));
  const wrong: unknown[] = [];
  for (const [at, name] of [...mayDo.keys()].entries()) {
    // Wrong credentials, such as those of a former member, are limited by network.
    await site.pool.query("TRUNCATE rate_limit");
    const { method, path } = operations.find(({ id }) => id === name.split("/")[0]) ?? expect.fail(name);
    for (const caller of callersOf(name, at)) {
      const { at: address, body, status: done } = await cases.prepare(name, path);
      const before = await entries();
      const { status, text } = await send(credentials.get(caller) ?? null, method, address, body);
      const expected = expectedOf(caller, name);
      if (status !== (expected === "done" ? done : expected))
        wrong.push({ name, caller, status, expected: expected === "done" ? done : expected, text: text.slice(0, 300) });
      else if (expected !== "done" && (await entries()) !== before) wrong.push({ name, caller, changed: true });
    }
  }
  expect(wrong).toEqual([]);
}, 600_000);
