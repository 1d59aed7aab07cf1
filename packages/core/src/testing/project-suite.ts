import { createTestDatabase, type TestDatabase } from "@towpath/db/testing";
import { afterAll, beforeAll, beforeEach } from "vitest";
import type { Actor, Context } from "../context/index.ts";
import { type SeededOrganization, seedOrganization, seedProject, testContext } from "./seed.ts";

/** A team with a project, new for each test. Call it at the top of a file. `context`: what the calls of all tests have. */
export function openProjectSuite(context: Partial<Context> = {}) {
  let database: TestDatabase;
  let team: SeededOrganization;
  let project: Awaited<ReturnType<typeof seedProject>>;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  beforeEach(async () => {
    team = await seedOrganization(database.db);
    project = await seedProject(database.db, team);
  });
  afterAll(() => database.close());
  return {
    get database() {
      return database;
    },
    get team() {
      return team;
    },
    get project() {
      return project;
    },
    as: (actor: Actor, more: Partial<Context> = {}): Context =>
      testContext(database.db, actor, { ...context, ...more }),
    /** How verbs are told which project is meant. */
    at: () => ({ orgSlug: team.slug, projectName: project.name }),
  };
}
