import { mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApiKey } from "@towpath/core/tenancy/api-key";
import { testContext } from "@towpath/core/testing";
import { auditLog } from "@towpath/db/schema";
import { commitFiles, git, makeRepository } from "@towpath/git/testing";
import { and, eq } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { maxBuildMs } from "./built-web.ts";
import { openSite } from "./site.ts";
import { type Member, newVisitor, seededMember } from "./visitor.ts";
import { startWeb, type WebProcess } from "./web-process.ts";

// Two machines have nothing in common but the database and the artifact store.
const operatorToken = "a-token-of-the-operator-for-all-machines";
const environment = () => ({ TOWPATH_REPOSITORIES: "bundles", TOWPATH_OPERATOR_TOKEN: operatorToken });
const site = openSite(environment);
let other: WebProcess;
let owner: Member;
let key: string;
let directory: string;
beforeAll(async () => {
  other = await startWeb({ databaseUrl: site.databaseUrl, environment });
  await mkdir(join(site.dataDirectory, "artifacts"));
  await symlink(join(site.dataDirectory, "artifacts"), join(other.dataDirectory, "artifacts"));
  directory = await mkdtemp(join(tmpdir(), "towpath-two-machines-"));
  owner = await seededMember(site.url, site.db);
  const ctx = testContext(site.db, { kind: "user", userId: owner.userId, ipAddress: null });
  const input = { orgSlug: owner.organization.slug, kind: "personal", name: "git", scope: "manage" } as const;
  key = (await createApiKey({ ctx, input })).key;
}, maxBuildMs);
afterAll(async () => {
  await other.stop();
  await rm(directory, { recursive: true, force: true });
});

const work = (name = "work") => join(directory, name);
const urlAt = (machine: { readonly url: string }) =>
  `${machine.url.replace("://", `://anybody:${key}@`)}/git/${owner.organization.slug}/weather.git`;
async function call(machine: { readonly url: string }, method: string, path: string, body?: unknown) {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const response = await newVisitor(machine.url).request(`/api/v1${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  expect([path, response.status]).toEqual([path, 200]);
  return response.json();
}

test.runIf(isThorough)(
  "SRC-3 two web processes that share database and artifact store serve one repository: pushes, clones, deploys, removal",
  async () => {
    const first = await makeRepository(work(), { "server.py": "mcp = 1\n" });
    const { id } = await call(site, "POST", "/repositories", { name: "weather" });
    await git(work(), "push", "--quiet", urlAt(site), "main");
    await git(directory, "clone", "--quiet", urlAt(other), "clone");
    expect(await git(work("clone"), "rev-parse", "HEAD")).toBe(first);
    const second = await commitFiles(work("clone"), { "server.py": "mcp = 2\n" });
    await git(work("clone"), "push", "--quiet");

    await commitFiles(work(), { "server.py": "mcp = 3\n" });
    const late = git(work(), "push", urlAt(site), "main");
    await expect(late).rejects.toMatchObject({ stderr: expect.stringContaining("rejected") });
    const deployed = await call(site, "POST", "/repositories/weather/deploy", { name: "weather-two-machines" });
    expect(deployed).toMatchObject({ created: true, build: { commitSha: second } });
    // Each push is in the audit log, whichever machine took it.
    const pushes = and(eq(auditLog.action, "repository.push"), eq(auditLog.subject, "weather"));
    expect(await site.db.$count(auditLog, pushes)).toBe(2);
    for (const { dataDirectory } of [site, other]) {
      const cache = join(dataDirectory, "cache", "repositories");
      const [boot = ""] = await readdir(cache);
      expect(await readdir(join(cache, boot))).toEqual([id]);
      expect(await readdir(dataDirectory)).not.toContain("repositories");
    }

    await call(other, "DELETE", "/projects/weather-two-machines");
    await call(other, "DELETE", "/repositories/weather", { confirmation: "weather" });
    const gone = git(directory, "clone", urlAt(site), "gone");
    await expect(gone).rejects.toMatchObject({ stderr: expect.stringMatching(/not found/i) });
  },
);

test("OPS-2 the operator's token may be a setting, so that web needs no file for it; the file's works beside it", async () => {
  const statusWith = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` };
    return (await newVisitor(other.url).request("/api/v1/caller", { headers })).status;
  };
  expect(await statusWith(other.operatorToken)).toBe(200);
  await rm(join(other.dataDirectory, "operator-token"));
  expect(await statusWith(operatorToken)).toBe(200);
  for (const wrong of [other.operatorToken, `${operatorToken}x`]) expect(await statusWith(wrong)).toBe(401);
});
