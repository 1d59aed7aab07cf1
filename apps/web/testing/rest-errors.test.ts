import { newId } from "@towpath/core/ids";
import { seedProject } from "@towpath/core/testing";
import { errorGroup } from "@towpath/db/schema";
import { beforeAll, expect, test } from "vitest";
import { sharedSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

const site = sharedSite();
let owner: Member;
let project: { readonly id: string; readonly name: string };
const [one, other] = [newId(), newId()];

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  project = await seedProject(site.db, owner.organization);
  const seen = new Date(Date.now() - 60_000);
  const common = { projectId: project.id, count: 1, firstSeen: seen, lastSeen: seen, openedAt: seen, callers: [] };
  const group = (id: string, title: string) => ({ ...common, id, fingerprint: id, title, samples: [], clients: [] });
  await site.db.insert(errorGroup).values([group(one, "KeyError: 'x'"), group(other, "OSError: no")]);
});

async function call(method: string, path: string, body?: unknown) {
  const response = await owner.visitor.request(`/api/v1/projects/${project.name}/errors${path}`, {
    method,
    headers: { authorization: `Bearer ${site.operatorToken}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

test("CAP-6 OPS-4 errors are listed, read and changed over REST, one or several", async () => {
  const list = await call("GET", "?sort=count");
  expect(list).toMatchObject({ status: 200, body: { total: 2, counts: { open: 2, resolved: 0, ignored: 0 } } });
  expect((await call("GET", "?search=KEY")).body.data).toMatchObject([
    { id: one, frame: null, lastDay: Array(24).fill(0) },
  ]);
  expect((await call("GET", `/${one}`)).body).toMatchObject({ id: one, samples: [], hasMoreCallers: false });
  expect((await call("PATCH", `/${one}`, { state: "resolved" })).body).toMatchObject({ id: one, state: "resolved" });
  expect((await call("PATCH", "", { ids: [one, other], state: "ignored" })).body).toEqual({ changed: 2 });
  expect((await call("GET", "?state=ignored")).body.total).toBe(2);
});

test("CAP-6 OPS-4 wrong requests to errors are refused", async () => {
  const statuses = [
    await call("GET", "?state=gone"),
    await call("GET", "?limit=0"),
    await call("GET", "?colour=red"),
    await call("GET", "?search=%00"),
    await call("GET", `/${newId()}`),
    await call("PATCH", `/${newId()}`, { state: "open" }),
    await call("PATCH", "", { ids: [], state: "open" }),
    await call("PATCH", "", { ids: [one], state: "gone" }),
  ].map(({ status }) => status);
  expect(statuses).toEqual([422, 422, 400, 422, 404, 404, 422, 422]);
});
