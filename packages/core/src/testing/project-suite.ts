import { createTestDatabase, type TestDatabase } from "@towpath/db/testing";
import { afterAll, beforeAll, beforeEach } from "vitest";
import type { Actor, FullContext } from "../context/index.ts";
import { type SeededOrganization, seedOrganization, seedProject, testContext } from "./seed.ts";

/**
 * An organization with a project, new for each test. Call it at the top of a file. `context`: what the calls of all tests
 * have.
 */
export function openProjectSuite(context: Partial<FullContext> = {}) {
  let database: TestDatabase;
  let organization: SeededOrganization;
  let project: Awaited<ReturnType<typeof seedProject>>;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  beforeEach(async () => {
    organization = await seedOrganization(database.db);
    project = await seedProject(database.db, organization);
  });
  afterAll(() => database.close());
  return {
    get database() {
      return database;
    },
    get organization() {
      return organization;
    },
    get project() {
      return project;
    },
    as: (actor: Actor, more: Partial<FullContext> = {}): FullContext =>
      testContext(database.db, actor, { ...context, ...more }),
    /** The scope of the project, for inputs of verbs. */
    at: () => ({ orgSlug: organization.slug, projectName: project.name }),
  };
}
