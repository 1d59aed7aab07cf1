import { seedProject } from "@towpath/core/testing";
import { foldRequestLogs, writeRequestLogs } from "@towpath/logs";
import { requestLogRow } from "@towpath/logs/testing";
import { expect, test } from "vitest";
import { sharedSite } from "./site.ts";
import { seededMember } from "./visitor.ts";

const site = sharedSite();

test("LOG-1 sessions and users as data, in pages, of this project alone", async () => {
  const owner = await seededMember(site.url, site.db);
  const headers = { authorization: `Bearer ${site.operatorToken}` };
  const own = await seedProject(site.db, owner.organization);
  await writeRequestLogs(
    site.pool,
    ["a", "b", "c"].map((session, at) =>
      requestLogRow({ projectId: own.id, session, principal: "admin", time: Date.now() - at * 1000 }),
    ),
  );
  while ((await foldRequestLogs(site.pool)) > 0);
  const read = async (path: string) => {
    const response = await owner.visitor.request(`/api/v1/projects/${own.name}/${path}`, { headers });
    return { status: response.status, body: await response.json() };
  };
  const first = (await read("sessions?limit=2")).body;
  expect(first.data.map((session: { id: string }) => session.id)).toEqual(["a", "b"]);
  const second = (await read(`sessions?limit=2&cursor=${first.nextCursor}`)).body;
  expect([second.data.length, second.nextCursor]).toEqual([1, null]);
  expect((await read("users")).body).toMatchObject({ data: [{ principal: "admin", calls: 3 }], nextCursor: null });
  for (const bad of ["limit=0", "limit=101", "cursor=x", "timeRange=1y"])
    expect([bad, (await read(`sessions?${bad}`)).status]).toEqual([bad, 422]);
});
