import { auditLog, build, deployment, route, secret, secretVersion } from "@towpath/db/schema";
import { createSecretBox, openSecrets, readDeploymentSecrets } from "@towpath/secrets";
import { and, desc, eq } from "drizzle-orm";
import { expect, test } from "vitest";
import type { z } from "zod";
import { startBuild } from "../../delivery/build/index.ts";
import { takeBuild } from "../../delivery/build/take-build.ts";
import { removeSecretVersions } from "../../operations/retention/remove-secret-versions.ts";
import { finishBuild, refusal, refusalCode, seedOrganization, shaOf } from "../../testing/index.ts";
import { openProjectSuite } from "../../testing/project-suite.ts";
import { decryptSecret, deleteSecret, listChangedSecrets, pinEnvironment, setSecrets, updateSecret } from "./index.ts";
import type { updateSecretSchema } from "./secret.schema.ts";

const secrets = createSecretBox({ current: "a root secret for tests, at least 32 characters", previous: [] });
const suite = openProjectSuite({ secrets });
const { as, at } = suite;
const job = () => as({ kind: "job", job: "build.run" });
type Change = Partial<z.input<typeof updateSecretSchema>>;
const set = async (keyName: string, secretValue: string, more: Change = {}) => {
  const secrets = [{ ...more, keyName, secretValue }];
  return (await setSecrets({ ctx: as(suite.organization.owner), input: { ...at(), secrets } }))[0];
};
const update = (keyName: string, change: Change) =>
  updateSecret({ ctx: as(suite.organization.owner), input: { ...at(), ...change, keyName } });
const reveal = (keyName: string, actor = suite.organization.owner) =>
  decryptSecret({ ctx: as(actor), input: { ...at(), keyName } });
const changed = () => listChangedSecrets({ ctx: as(suite.organization.owner), input: at() });
const sweep = async () => {
  const policy = { requestLogDays: 1, serverLogDays: 1, buildLogDays: 1, auditDays: 1 };
  const limits = { endedBranchDays: 1, buildsPerBranch: 1, deploymentsPerBranch: 1 };
  return removeSecretVersions({ ctx: job(), input: { now: new Date(), policy: { ...policy, ...limits } } });
};

/** Builds and deploys as a worker does; resolves with what it gave to the build, and the deployment. */
async function deploy(commit: string) {
  const input = { ...at(), commitSha: shaOf(commit), trigger: "push" as const, reuse: "never" as const };
  const { id } = (await startBuild({ ctx: as(suite.organization.owner), input })).build;
  const taken = await takeBuild({ ctx: job(), input: { buildId: id } });
  const fence = { buildId: id, attempt: taken?.attempt ?? 0 };
  const given = await pinEnvironment({
    ctx: job(),
    input: { ...fence, projectId: suite.project.id, environment: "production" },
  });
  await finishBuild(suite.database.db, fence);
  const [row] = await suite.database.db.select().from(deployment).where(eq(deployment.buildId, id));
  return { buildId: id, given, deploymentId: row?.id ?? "" };
}

async function startsWith(deploymentId: string) {
  const stored = await readDeploymentSecrets(suite.database.pool, deploymentId);
  return stored && openSecrets(secrets, stored);
}

test("KEY-2 a deployment starts with what it was built with, and so does an earlier one after a rollback", async () => {
  await set("API_KEY", "first", { environments: ["production"] });
  await set("ONLY_PREVIEW", "x", { environments: ["preview"] });
  const first = await deploy("a");
  expect(first.given).toEqual({ API_KEY: "first" });
  await set("API_KEY", "second");
  await set("NEW_KEY", "new");
  expect(await startsWith(first.deploymentId)).toEqual({ API_KEY: "first" });
  const second = await deploy("b");
  await deleteSecret({ ctx: as(suite.organization.owner), input: { ...at(), keyName: "API_KEY" } });
  await set("API_KEY", "another variable of the same name");
  expect((await sweep()).problems).toEqual([]);
  expect(await startsWith(first.deploymentId)).toEqual({ API_KEY: "first" });
  expect(await startsWith(second.deploymentId)).toEqual({ API_KEY: "second", NEW_KEY: "new" });
});

test("KEY-2 versions go with the last deployment that refers to them, and the newest of a variable stays", async () => {
  const versions = async () =>
    (await suite.database.db.select().from(secretVersion).where(eq(secretVersion.projectId, suite.project.id)))
      .map(({ keyName, version }) => `${keyName} ${version}`)
      .sort();
  await set("API_KEY", "first");
  await set("API_KEY", "never deployed");
  await set("API_KEY", "third");
  const { deploymentId } = await deploy("a");
  await set("API_KEY", "fourth");
  await set("UNUSED", "x");
  await deleteSecret({ ctx: as(suite.organization.owner), input: { ...at(), keyName: "UNUSED" } });
  await sweep();
  expect(await versions()).toEqual(["API_KEY 3", "API_KEY 4"]);
  await suite.database.db.delete(route).where(eq(route.deploymentId, deploymentId));
  await suite.database.db.delete(deployment).where(eq(deployment.id, deploymentId));
  await sweep();
  expect(await versions()).toEqual(["API_KEY 4"]);
});

test("KEY-2 a deployment whose version is gone doesn't start with fewer variables", async () => {
  await set("API_KEY", "first");
  const { deploymentId } = await deploy("a");
  await suite.database.db.delete(secretVersion).where(eq(secretVersion.projectId, suite.project.id));
  await expect(startsWith(deploymentId)).rejects.toThrow("has lost a version of its variables");
  expect(await readDeploymentSecrets(suite.database.pool, crypto.randomUUID())).toBeNull();
});

test("KEY-2 a deployment of a release that kept no versions starts with the variables of today", async () => {
  await set("API_KEY", "first");
  await set("ONLY_PREVIEW", "x", { environments: ["preview"] });
  const { deploymentId, buildId } = await deploy("a");
  await suite.database.db.update(build).set({ secretVersionIds: null }).where(eq(build.id, buildId));
  await set("API_KEY", "second");
  expect(await startsWith(deploymentId)).toEqual({ API_KEY: "second" });
  expect(await changed()).toEqual([]);
});

test("KEY-2 only the worker that has the build gets variables, and only the platform", async () => {
  await set("API_KEY", "value");
  const { buildId } = await deploy("a");
  const input = { projectId: suite.project.id, environment: "production" as const, buildId, attempt: 1 };
  expect(await pinEnvironment({ ctx: job(), input })).toBeNull();
  expect(await refusalCode(pinEnvironment({ ctx: as(suite.organization.owner), input }))).toBe("forbidden");
});

test("KEY-1 the page can say what has changed since the live deployment was built, by name", async () => {
  expect(await changed()).toEqual([]);
  await set("API_KEY", "first");
  await set("GONE", "x");
  const { buildId } = await deploy("a");
  expect(await changed()).toEqual([]);
  await set("ONLY_PREVIEW", "x", { environments: ["preview"] });
  expect(await changed()).toEqual([]);
  await set("API_KEY", "second");
  await set("ADDED", "x");
  await deleteSecret({ ctx: as(suite.organization.owner), input: { ...at(), keyName: "GONE" } });
  const keyNames = ["ADDED", "API_KEY", "GONE"];
  expect(await changed()).toEqual([{ branch: "main", environment: "production", buildId, keyNames }]);
  await deploy("b");
  expect(await changed()).toEqual([]);
  const stranger = await seedOrganization(suite.database.db);
  for (const [actor, code] of [
    [await suite.organization.join("viewer"), "forbidden"],
    [stranger.owner, "not_found"],
  ] as const)
    expect(await refusalCode(listChangedSecrets({ ctx: as(actor), input: at() }))).toBe(code);
});

test("KEY-1 KEY-2 a value is revealed to members, with an entry in the audit log, and never a sensitive one", async () => {
  await set("REGION", "north");
  await set("API_KEY", "very secret", { sensitive: true });
  expect(await reveal("REGION")).toEqual({ secretValue: "north" });
  const refused = await refusal(reveal("API_KEY"));
  expect(refused).toMatchObject({ code: "conflict", message: expect.stringContaining("is sensitive") });
  expect(await refusalCode(reveal("ABSENT"))).toBe("not_found");
  expect(await refusalCode(reveal("REGION", await suite.organization.join("viewer")))).toBe("forbidden");
  expect(await refusalCode(reveal("REGION", (await seedOrganization(suite.database.db)).owner))).toBe("not_found");
  const entries = await suite.database.db
    .select()
    .from(auditLog)
    .where(and(eq(auditLog.projectId, suite.project.id), eq(auditLog.action, "secret.decrypt")));
  const actor = suite.organization.owner.kind === "user" ? `user:${suite.organization.owner.userId}` : "";
  expect(entries).toMatchObject([{ actor, subject: "REGION", detail: { reason: "reveal", version: 1 } }]);
});

test("KEY-2 a build that gets variables has one entry in the audit log, with their versions and no values", async () => {
  await set("API_KEY", "very secret");
  await set("REGION", "north");
  await set("REGION", "south");
  const { buildId } = await deploy("a");
  const [entry, ...others] = await suite.database.db
    .select()
    .from(auditLog)
    .where(and(eq(auditLog.projectId, suite.project.id), eq(auditLog.action, "secret.decrypt")))
    .orderBy(desc(auditLog.createdAt));
  expect(others).toEqual([]);
  expect(entry).toMatchObject({
    actor: "job:build.run",
    subject: buildId,
    detail: { reason: "build", versions: { API_KEY: 1, REGION: 2 } },
  });
  expect(JSON.stringify(entry)).not.toContain("very secret");
});

test("KEY-1 KEY-5 what is given of a variable changes, the rest stays", async () => {
  const more = { description: " For the weather ", sensitive: true, environments: ["preview" as const] };
  expect(await set("API_KEY", "first", more)).toMatchObject({ description: "For the weather", sensitive: true });
  expect(await update("API_KEY", { environments: ["production"] })).toMatchObject({
    description: "For the weather",
    sensitive: true,
    environments: ["production"],
  });
  expect((await deploy("a")).given).toEqual({ API_KEY: "first" });
  expect((await refusal(update("API_KEY", { sensitive: false }))).fields).toEqual({
    sensitive: "A sensitive value can't be made visible. Enter a new value to change this.",
  });
  await update("API_KEY", { sensitive: false, secretValue: "second", description: "" });
  expect(await reveal("API_KEY")).toEqual({ secretValue: "second" });
  const [row] = await suite.database.db.select().from(secret).where(eq(secret.projectId, suite.project.id));
  expect(row).toMatchObject({ version: 3, description: null });
  expect(await refusalCode(update("ABSENT", { description: "x" }))).toBe("not_found");
  expect((await refusal(update("API_KEY", { environments: [] }))).fields).toEqual({
    environments: "Choose at least one environment",
  });
});

test("KEY-1 KEY-2 a new description or sensitivity is no new version, and nothing to redeploy", async () => {
  await set("API_KEY", "first");
  const { given } = await deploy("a");
  await update("API_KEY", { description: "For the weather", sensitive: true, environments: ["preview", "production"] });
  const [row] = await suite.database.db.select().from(secret).where(eq(secret.projectId, suite.project.id));
  expect(row).toMatchObject({ version: 1, description: "For the weather", sensitive: true });
  expect(await changed()).toEqual([]);
  expect((await deploy("b")).given).toEqual(given);
  await update("API_KEY", { environments: ["preview"] });
  expect(await changed()).toMatchObject([{ keyNames: ["API_KEY"] }]);
});

test("VAL-4 RUN-4 all variables of an environment together must fit into that of a process", async () => {
  const half = "x".repeat(60 * 1024);
  await set("FIRST", half);
  await set("SECOND", half, { environments: ["preview"] });
  await set("THIRD", half, { environments: ["production"] });
  const text =
    "The variables of production would have 181 KiB together; a server's environment can have 128 KiB. " +
    "Shorten or delete some of them first.";
  expect((await refusal(set("FOURTH", half))).fields).toEqual({ secretValue: text });
  expect((await refusal(update("SECOND", { environments: ["production"] }))).fields).toEqual({ secretValue: text });
  await set("FOURTH", "x".repeat(7 * 1024));
  expect((await deploy("a")).given).toMatchObject({ FIRST: half, THIRD: half });
});
