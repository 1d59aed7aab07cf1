import { createApiKey } from "@towpath/core/tenancy/api-key";
import { seedProject, testContext } from "@towpath/core/testing";
import { gitSource, project, repository } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { beforeAll, expect, test } from "vitest";
import { openSite } from "./site.ts";
import { type Member, newVisitor, seededMember } from "./visitor.ts";

// The target of `towpath deploy DIR`, which replaces a repository's content and must not overwrite anybody's work.

const site = openSite();
let owner: Member;
let others: Member;
let key: string;

beforeAll(async () => {
  [owner, others] = [await seededMember(site.url, site.db), await seededMember(site.url, site.db)];
  key = await keyOf(owner);
});

async function keyOf({ userId, organization }: Member): Promise<string> {
  const ctx = testContext(site.db, { kind: "user", userId, ipAddress: null });
  const input = { orgSlug: organization.slug, kind: "personal", name: "terminal", scope: "manage" } as const;
  return (await createApiKey({ ctx, input })).key;
}

async function post(by: string, path: string, body: unknown) {
  const response = await newVisitor(site.url).request(`/api/v1${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${by}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, answer: await response.json() };
}

const targetOf = (name: string, by = key) => post(by, "/deploy-targets", { name });
const refusalOf = async (name: string, by = key): Promise<[number, string]> => {
  const { status, answer } = await targetOf(name, by);
  return [status, answer.error?.message ?? "accepted"];
};

/** A server that is built from a repository of the organization. */
async function seedFrom(repositoryId: string, name: string): Promise<void> {
  const { id } = await seedProject(site.db, owner.organization, { name });
  const none = { installationId: null, repositoryId: null, repositoryFullName: null };
  await site.db.update(project).set(none).where(eq(project.id, id));
  await site.db.insert(gitSource).values({ projectId: id, repositoryId, previews: true });
}

test("SRC-3 OPS-4 a new server gets a repository of its name, once; the server that is built from it gets the same", async () => {
  const first = await targetOf("Brave-Teal-Otter");
  const expected = {
    organization: owner.organization.slug,
    repository: { name: "brave-teal-otter", defaultBranch: "main" },
    project: null,
  };
  expect(first).toEqual({ status: 200, answer: expected });
  expect(await targetOf("Brave-Teal-Otter")).toEqual(first);
  const [made] = await site.db.select().from(repository).where(eq(repository.name, "brave-teal-otter"));
  expect(made?.madeBy).toBe("deploy");
  await seedFrom(made?.id ?? "", "Brave-Teal-Otter");
  const { answer } = await targetOf("Brave-Teal-Otter");
  expect(answer).toMatchObject({ ...expected, project: { name: "Brave-Teal-Otter", authMode: "towpath-cloud" } });
  // A second server of the same repository would get the directory too.
  await seedFrom(made?.id ?? "", "brave-teal-second");
  for (const name of ["brave-teal-otter", "brave-teal-second"])
    expect(await refusalOf(name)).toEqual([409, expect.stringContaining(`did not make that for`)]);
});

test("SRC-3 OPS-4 people's repositories are never written to: their own, GitHub's, a Git URL's", async () => {
  expect((await post(key, "/repositories", { name: "weather-own" })).status).toBe(200);
  const [status, text] = await refusalOf("weather-own");
  expect([status, text]).toEqual([409, expect.stringContaining("The terminal did not create the repository")]);
  const [own] = await site.db.select().from(repository).where(eq(repository.name, "weather-own"));
  await seedFrom(own?.id ?? "", "weather-own");
  expect(await refusalOf("weather-own")).toEqual([409, expect.stringContaining("Push to weather-own to deploy it")]);
  const hub = await seedProject(site.db, owner.organization);
  const [, message] = await refusalOf(hub.name);
  expect(message).toContain(`${hub.name} deploys from the repository acme/${hub.name}`);
  expect(message).toContain(`Push to acme/${hub.name} to deploy it, or choose another --name`);
});

test("SRC-3 ERR-1 VAL-1 names are checked before anything is made, and servers of others are only known as taken", async () => {
  const taken = await seedProject(site.db, others.organization);
  for (const [name, expected] of [
    ["abc", "Project name must be at least 6 characters long"],
    ["settings", "This project name is reserved"],
    [taken.name, "This project name is already taken"],
  ] as const) {
    const { status, answer } = await targetOf(name);
    expect([status, JSON.stringify(answer)]).toEqual([422, expect.stringContaining(expected)]);
  }
  const before = await site.db.$count(repository);
  const member = { name: "another-server", organization: others.organization.slug };
  expect([403, 404]).toContain((await post(key, "/deploy-targets", member)).status);
  expect(await site.db.$count(repository)).toBe(before);
});
