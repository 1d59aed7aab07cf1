import { join } from "node:path";
import { seedProject } from "@towpath/core/testing";
import { auditLog, project, repository, secret } from "@towpath/db/schema";
import { openRepositories } from "@towpath/git";
import { and, eq } from "drizzle-orm";
import { strToU8, zipSync } from "fflate";
import { beforeAll, expect, test } from "vitest";
import { sharedSite } from "./site.ts";
import { answerOf, callServerFunction, type Member, newVisitor, seededMember, type Visitor } from "./visitor.ts";

const site = sharedSite();
let owner: Member;
let stranger: Member;

beforeAll(async () => {
  [owner, stranger] = [await seededMember(site.url, site.db), await seededMember(site.url, site.db)];
});

const archive = (text: string) => zipSync({ "server.py": strToU8(text) });
const place = () => `/api/organizations/${owner.organization.slug}/uploads`;
const versions = (name: string, head: string) =>
  `/api/projects/${owner.organization.slug}/${name}/uploads?expectedHead=${head}`;

async function send(
  path: string,
  parts: readonly (string | Uint8Array)[],
  { by = owner.visitor, from = "same-origin" }: { readonly by?: Visitor; readonly from?: string } = {},
) {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const headers = { "content-type": "application/octet-stream", "sec-fetch-site": from };
  const response = await by.request(path, { method: "POST", body, headers });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}
const line = (settings: object) => `${JSON.stringify(settings)}\n`;
const errorOf = (fields: Record<string, unknown>) => ({ error: expect.objectContaining(fields) });
const count = (name: string) => site.db.$count(repository, eq(repository.name, name));

test("SRC-4 one request makes repository, commit, server, variables and first build; a repository's name may be taken", async () => {
  const { slug, id: organizationId } = owner.organization;
  const taken = { id: crypto.randomUUID(), organizationId, name: "upload-one", madeBy: "push" };
  await site.db.insert(repository).values(taken);
  const secrets = [{ keyName: "API_KEY", secretValue: "of-the-test" }];
  const sent = await send(place(), [line({ name: "Upload-One", secrets }), archive("x = 1\n")]);
  expect(sent).toMatchObject({ status: 200, body: { projectName: "Upload-One", buildId: expect.any(String) } });
  const source = await answerOf(
    callServerFunction(owner.visitor, "source.getSource", "GET", { orgSlug: slug, projectName: "Upload-One" }),
  );
  expect(source).toMatchObject({
    kind: "repository",
    name: "upload-one-2",
    head: expect.stringMatching(/^[0-9a-f]{40}$/),
  });
  const [row] = await site.db.select().from(project).where(eq(project.name, "Upload-One"));
  expect(row).toMatchObject({ authMode: "towpath-cloud", entrypoint: "" });
  expect(await site.db.$count(secret, eq(secret.projectId, row?.id ?? ""))).toBe(1);
  const made = and(eq(auditLog.organizationId, organizationId), eq(auditLog.action, "repository.create"));
  expect(await site.db.$count(auditLog, made)).toBe(1);
});

test("SRC-4 a refused request leaves no repository: names, settings, archives, other pages, roles and organizations", async () => {
  const good = archive("x = 1\n");
  const refused = [
    [
      await send(place(), [line({ name: "abc" }), good]),
      422,
      { fields: { name: expect.stringContaining("6 characters") } },
    ],
    [await send(place(), [line({ name: "upload-two", entrypoint: "../x.py" }), good]), 422, {}],
    [await send(place(), [line({ name: "upload-two", entrypoint: "absent.py" }), good]), 422, {}],
    [await send(place(), [line({ name: "upload-two" }), "no archive"]), 422, {}],
    [await send(place(), [line({ name: "upload-two" })]), 422, {}],
    [await send(place(), ["no json\n", good]), 422, {}],
    [await send(place(), ["{}"]), 422, { message: "The upload has no settings." }],
    [await send(place(), [line({ name: "upload-two" }), good], { from: "cross-site" }), 403, {}],
    [await send(place(), [line({ name: "upload-two" }), good], { by: newVisitor(site.url) }), 401, {}],
    [await send(place(), [line({ name: "upload-two" }), good], { by: stranger.visitor }), 403, {}],
  ] as const;
  for (const [at, [answer, status, fields]] of refused.entries())
    expect([at, answer]).toEqual([at, { status, body: errorOf(fields) }]);
  expect(await count("upload-two")).toBe(0);
  expect(await site.db.$count(project, eq(project.name, "upload-two"))).toBe(0);
});

test("SRC-4 a new version is a commit on the head that was seen; another head, and servers of other sources, refuse", async () => {
  const name = "upload-three";
  expect(await send(place(), [line({ name }), archive("x = 1\n")])).toMatchObject({ status: 200 });
  const [row] = await site.db.select().from(repository).where(eq(repository.name, name));
  const store = openRepositories({ directory: join(site.dataDirectory, "repositories") });
  const head = async () => (await store.open(row?.id ?? "").refs()).branches.get("main") ?? "";
  const first = await head();
  const next = await send(versions(name, first), [archive("x = 2\n")]);
  expect(next).toEqual({ status: 200, body: { commitSha: await head(), changed: true, leftOut: [] } });
  expect(await head()).not.toBe(first);
  expect(await send(versions(name, await head()), [archive("x = 2\n")])).toMatchObject({ body: { changed: false } });
  for (const seen of [first, ""]) {
    const late = await send(versions(name, seen), [archive("x = 3\n")]);
    expect(late).toEqual({ status: 409, body: errorOf({ code: "conflict" }) });
  }
  expect(await send(versions(name, first), [archive("x = 3\n")], { by: stranger.visitor })).toMatchObject({
    status: 404,
  });
  expect(await send(versions(name, first), [archive("x = 3\n")], { from: "cross-site" })).toMatchObject({
    status: 403,
  });
  expect(next.body.commitSha).toBe(await head());
  const other = await seedProject(site.db, owner.organization);
  const elsewhere = await send(versions(other.name, first), [archive("x = 3\n")]);
  expect(elsewhere).toEqual({ status: 422, body: errorOf({ message: expect.stringContaining("isn't built from") }) });
});
