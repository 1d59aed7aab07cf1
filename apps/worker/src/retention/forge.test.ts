import { seedOrganization, seedProject, testContext } from "@towpath/core/testing";
import { project } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type LocalInstance, openLocalInstance } from "../testing/local-instance.ts";
import { sweepForge } from "./forge.ts";

let instance: LocalInstance;
beforeAll(async () => {
  instance = await openLocalInstance();
  await instance.start("forge");
});
afterAll(() => instance.close());

test("LOG-6 PRJ-11 a repository that the terminal made goes when no server is built from it, a day after its last push", async () => {
  const { forge, database } = instance;
  const organization = await seedOrganization(database.db);
  await forge.ensureAccount({ login: "ada" });
  const [used, left, again] = await Promise.all(
    ["used", "left", "again"].map(async (name) => (await forge.ensureRepository({ owner: "ada", name })).repository),
  );
  const server = await seedProject(database.db, organization, { repositoryId: used?.id ?? 0 });
  const sweepIn = async (hours: number) => {
    const clock = { now: () => new Date(Date.now() + hours * 3_600_000) };
    return sweepForge(testContext(database.db, { kind: "job", job: "sweep" }, { clock }), forge);
  };
  const names = async () =>
    (await forge.unchangedRepositories(new Date(Date.now() + 60_000))).map((each) => each.fullName);
  expect(await sweepIn(23)).toBe(0);
  expect(await sweepIn(25)).toBe(2);
  expect(await names()).toEqual(["ada/used"]);
  // Deployed once more under the same name, it is a new one.
  const renewed = await forge.ensureRepository({ owner: "ada", name: "again" });
  expect(renewed.repository.id).not.toBe(again?.id);
  // A push is on its way since then.
  await expect(
    forge.deleteRepository({ id: renewed.repository.id, unchangedSince: new Date(Date.now() - 60_000) }),
  ).rejects.toMatchObject({ code: "conflict" });
  await expect(forge.deleteRepository({ id: left?.id ?? 0, unchangedSince: new Date() })).rejects.toMatchObject({
    code: "not_found",
  });
  // Its server is deleted.
  await database.db.delete(project).where(eq(project.id, server.id));
  expect(await sweepIn(25)).toBe(2);
  expect(await names()).toEqual([]);
});
