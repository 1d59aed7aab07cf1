import { randomInt } from "node:crypto";
import type { Database } from "@towpath/db";
import {
  branch,
  externalServer,
  githubInstallation,
  member,
  organization,
  project,
  route,
  user,
} from "@towpath/db/schema";
import type { SecretBox } from "@towpath/secrets";
import { eq } from "drizzle-orm";
import type { Actor, FullContext, Role } from "../context/index.ts";
import { newId } from "../ids/index.ts";
import { type JobName, type JobPayloads, type JobQueue, type RepositoryHost, systemClock } from "../ports/index.ts";
import type { Repository } from "../projects/project/project.schema.ts";
import { insertSecrets } from "../projects/secret/internal.ts";

/** A queue that only remembers, with the uniqueness that the port promises. */
export type MemoryQueue = JobQueue & {
  readonly jobs: { readonly name: JobName; readonly payload: JobPayloads[JobName]; readonly key: string | null }[];
};

/** `withReports`: also the jobs that report builds to GitHub, which every change of a build enqueues. */
export function memoryQueue({ withReports = false } = {}): MemoryQueue {
  const jobs: MemoryQueue["jobs"] = [];
  return {
    jobs,
    async enqueue(name, payload, options) {
      const key = options?.key ?? null;
      if (name === "branch.report" && !withReports) return;
      if (key !== null && jobs.some((job) => job.name === name && job.key === key)) return;
      jobs.push({ name, payload, key });
    },
  };
}

const unasked = () => Promise.reject(new Error("this test doesn't ask GitHub about that"));

/**
 * A host on which every repository exists, with one branch and every file, unless `state` differs. `head`: name of the
 * branch's newest commit, of which `shaOf` makes the id; null for an empty repository. `calls`: in place of its own.
 */
export function memoryRepositories(
  state: { repository?: Partial<Repository>; head?: string | null; missing?: readonly string[] } = {},
  calls: Partial<RepositoryHost> = {},
): RepositoryHost {
  const { repository, head = "head", missing = [] } = state;
  const defaultBranch = repository?.defaultBranch ?? "main";
  const commit = (sha: string) => {
    const name = Buffer.from(sha, "hex").toString().replaceAll("\0", "");
    return { sha, message: `Commit ${name}`, author: "Ada" };
  };
  return {
    repository: async ({ owner, name }) => ({
      id: 1000,
      fullName: `${owner}/${name}`,
      private: false,
      defaultBranch,
      ...repository,
    }),
    open: () => ({
      refs: async (only = defaultBranch) => {
        return { url: null, defaultBranch, branches: new Map(head === null ? [] : [[only, shaOf(head)]]) };
      },
      commit: async ({ sha }) => commit(sha),
      checkout: async ({ sha }) => ({
        commit: commit(sha),
        paths: async () => [],
        read: async () => null,
        close: async () => {},
        has: async (path) => !missing.includes(path),
      }),
      changedPaths: async () => null,
      tarball: async () => new ReadableStream(),
    }),
    branch: unasked,
    heads: unasked,
    mayArrive: async () => true,
    installation: unasked,
    ...calls,
  };
}

/** A service whose use fails the test. */
const notGiven = <Service extends object>(name: string): Service =>
  new Proxy({} as Service, {
    get: () => {
      throw new Error(`this test gives no ${name}`);
    },
  });

export function testContext(db: Database, actor: Actor, more: Partial<FullContext> = {}): FullContext {
  return {
    db,
    actor,
    queue: memoryQueue(),
    clock: systemClock,
    serverUrlTemplate: "http://localhost:8080/{name}",
    dashboardUrl: "https://towpath.example",
    repositories: memoryRepositories(),
    gitHubTarget: notGiven("gitHubTarget"),
    gitRemotes: notGiven("gitRemotes"),
    gitFiles: notGiven("gitFiles"),
    gitHubFiles: notGiven("gitHubFiles"),
    instanceRepositories: notGiven("instanceRepositories"),
    packages: notGiven("packages"),
    serverRegistry: null,
    secrets: notGiven("secrets"),
    fetchDocument: () => Promise.reject(new Error("this test gives no fetchDocument")),
    externalServers: notGiven("externalServers"),
    readIssuerKeys: () => Promise.reject(new Error("this test gives no readIssuerKeys")),
    assertions: notGiven("assertions"),
    domainNames: notGiven("domainNames"),
    // Servers that answer at once.
    serverHost: { verify: async () => {} },
    adminTokens: notGiven("adminTokens"),
    mail: null,
    webhooks: notGiven("webhooks"),
    callLimits: { caller: null, server: null, organization: null },
    recordSignInStep: () => {},
    ...more,
  };
}

/** An account of its own. Give `createdAt` where the order counts: accounts of one millisecond have none. */
export async function seedUser(
  db: Database,
  more: { readonly createdAt?: Date } = {},
): Promise<{ readonly id: string; readonly actor: Actor }> {
  const id = newId();
  await db.insert(user).values({ id, name: "Ada Example", email: `${id}@example.com`, firstName: "Ada", ...more });
  return { id, actor: { kind: "user", userId: id, ipAddress: "192.0.2.1" } };
}

export type SeededOrganization = {
  readonly id: string;
  readonly slug: string;
  readonly installationId: number;
  readonly owner: Actor;
  /** Adds another account with that role. */
  join(role: Role): Promise<Actor>;
};

/** An organization of its own with an owner and a GitHub installation: suites never share rows. */
export async function seedOrganization(db: Database, id = newId()): Promise<SeededOrganization> {
  const slug = `org-${id.slice(-12)}`;
  const installationId = randomInt(1, 2 ** 31);
  await db.insert(organization).values({ id, slug, name: `Org ${slug}` });
  const join = async (role: Role) => {
    const account = await seedUser(db);
    await db.insert(member).values({ id: newId(), organizationId: id, userId: account.id, role });
    return account.actor;
  };
  await db
    .insert(githubInstallation)
    .values({ installationId, organizationId: id, accountLogin: `acme-${slug}`, accountType: "User" });
  return { id, slug, installationId, owner: await join("owner"), join };
}

/** A project with its default branch `main` and no build. */
export async function seedProject(
  db: Database,
  owner: SeededOrganization,
  more: Partial<typeof project.$inferInsert> = {},
): Promise<{ readonly id: string; readonly name: string; readonly branchId: string; readonly repositoryId: number }> {
  const id = more.id ?? newId();
  const name = more.name ?? `echo-${id.slice(-12)}`;
  const repositoryId = more.repositoryId ?? randomInt(1, 2 ** 31);
  await db.insert(project).values({
    organizationId: owner.id,
    installationId: owner.installationId,
    repositoryFullName: `acme/${name}`,
    entrypoint: "echo.py",
    ...more,
    id,
    name,
    repositoryId,
  });
  const branchId = newId();
  await db.insert(branch).values({ id: branchId, projectId: id, name: "main", isDefault: true });
  return { id, name, branchId, repositoryId };
}

/** A route of a project to a server elsewhere, at the address of its name. */
export async function seedExternalRoute(db: Database, projectId: string, name: string): Promise<void> {
  const externalServerId = newId();
  await db.insert(externalServer).values({ id: externalServerId, projectId, url: "https://elsewhere.example/mcp" });
  await db.insert(route).values({ label: name.toLowerCase(), projectId, targetKind: "external", externalServerId });
}

/** Variables of a project, by name, for both environments. */
export async function seedSecrets(
  db: Database,
  secrets: SecretBox,
  projectId: string,
  values: Readonly<Record<string, string>>,
): Promise<void> {
  const ctx = testContext(db, { kind: "job", job: "seed" }, { secrets });
  const [owner] = await db.select({ id: project.organizationId }).from(project).where(eq(project.id, projectId));
  if (!owner) throw new Error(`there is no project ${projectId}`);
  const list = Object.entries(values).map(([keyName, secretValue]) => ({ keyName, secretValue }));
  await db.transaction((tx) => insertSecrets(tx, ctx, { organizationId: owner.id, projectId }, list));
}

/** A commit id made from a short text, the same for the same text. */
export const shaOf = (text: string): string => Buffer.from(text).toString("hex").padEnd(40, "0").slice(0, 40);
