import type { Database } from "@towpath/db";
import { openTestDatabase } from "@towpath/db/testing";
import { beforeAll, beforeEach } from "vitest";
import type { Actor, FullContext } from "../context/index.ts";
import { type SeededOrganization, seedOrganization, seedProject, testContext } from "./seed.ts";

/**
 * An organization for the tests of a file, or with `fresh` for each of them. Call it at the top of the file, after its
 * database: in later hooks and in tests it has its members.
 */
export function openOrganization(database: { readonly db: Database }, { fresh = false } = {}): SeededOrganization {
  const organization = {} as SeededOrganization;
  const before = fresh ? beforeEach : beforeAll;
  before(async () => {
    Object.assign(organization, await seedOrganization(database.db));
  });
  return organization;
}

/**
 * An organization with a project, new for each test. Call it at the top of a file. `context`: what the calls of all tests
 * have.
 */
export function openProjectSuite(context: Partial<FullContext> = {}) {
  const database = openTestDatabase();
  const organization = openOrganization(database, { fresh: true });
  let project: Awaited<ReturnType<typeof seedProject>>;
  beforeEach(async () => {
    project = await seedProject(database.db, organization);
  });
  return {
    database,
    organization,
    get project() {
      return project;
    },
    as: (actor: Actor, more: Partial<FullContext> = {}): FullContext =>
      testContext(database.db, actor, { ...context, ...more }),
    /** The scope of the project, for inputs of verbs. */
    at: () => ({ orgSlug: organization.slug, projectName: project.name }),
  };
}
