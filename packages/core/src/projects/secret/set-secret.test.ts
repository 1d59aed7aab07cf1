import { auditLog, secret } from "@towpath/db/schema";
import { createSecretBox, findDataKey } from "@towpath/secrets";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { isThorough } from "../../../../../tests/thorough.ts";
import { refusal, refusalCode, seedOrganization, seedProject } from "../../testing/index.ts";
import { openProjectSuite } from "../../testing/project-suite.ts";
import { createSecret, decryptSecret, deleteSecret, listSecrets, setSecrets, updateSecret } from "./index.ts";
import { currentValues } from "./testing/current-values.ts";

const secrets = createSecretBox({ current: "a root secret for tests, at least 32 characters", previous: [] });
const suite = openProjectSuite({ secrets });
const { as, at } = suite;
const rows = () => suite.database.db.select().from(secret).where(eq(secret.projectId, suite.project.id));
const processGets = (environment: "production" | "preview") =>
  currentValues(suite.database.db, secrets, { projectId: suite.project.id, environment });
const set = async (
  keyName: string,
  secretValue: string,
  more: { environments?: ("production" | "preview")[] } = {},
) => {
  const secrets = [{ keyName, secretValue, ...more }];
  const [view] = await setSecrets({ ctx: as(suite.organization.owner), input: { ...at(), secrets } });
  if (!view) throw new Error("nothing was set");
  return view;
};

test("KEY-1 a secret is set, listed without its value, and passed to the process; both environments are the default", async () => {
  const view = await set("API_KEY", "very secret");
  await set("AREA", "north", { environments: ["preview", "preview"] });
  expect(view).toEqual({
    id: expect.any(String),
    keyName: "API_KEY",
    environments: ["production", "preview"],
    description: null,
    sensitive: false,
    perCaller: false,
    updatedAt: expect.any(String),
  });
  const listed = await listSecrets({ ctx: as(suite.organization.owner), input: at() });
  expect(listed.map(({ keyName, environments }) => [keyName, environments])).toEqual([
    ["API_KEY", ["production", "preview"]],
    ["AREA", ["preview"]],
  ]);
  expect(Object.keys(listed[0] ?? {}).sort()).toEqual([
    "description",
    "environments",
    "id",
    "keyName",
    "perCaller",
    "sensitive",
    "updatedAt",
  ]);
  expect(await processGets("production")).toEqual({ API_KEY: "very secret" });
  expect(await processGets("preview")).toEqual({ API_KEY: "very secret", AREA: "north" });
});

test("KEY-2 replacing a secret creates a new version and ciphertext under the same id", async () => {
  const first = await set("API_KEY", "same value");
  const [before] = await rows();
  expect(await set("API_KEY", "same value")).toMatchObject({ id: first.id });
  const [after, ...others] = await rows();
  if (!before || !after) throw new Error("a secret is missing");
  expect(others).toEqual([]);
  expect([before.version, after.version]).toEqual([1, 2]);
  expect(after.ciphertext).not.toBe(before.ciphertext);
  const dataKey = await findDataKey(suite.database.db, suite.project.id);
  const binding = { organizationId: suite.organization.id, secretId: first.id };
  expect(secrets.decrypt({ ...after, ...binding }, dataKey)).toBe("same value");
  expect(() => secrets.decrypt({ ...before, ...binding, version: 2 }, dataKey)).toThrow();
  await set("API_KEY", "other value", { environments: ["production"] });
  expect(await processGets("production")).toEqual({ API_KEY: "other value" });
  expect(await processGets("preview")).toEqual({});
});

test("KEY-1 a new value keeps the secret's environments", async () => {
  await set("API_KEY", "old", { environments: ["preview"] });
  expect(await set("API_KEY", "new")).toMatchObject({ environments: ["preview"] });
  expect(await processGets("production")).toEqual({});
  expect(await processGets("preview")).toEqual({ API_KEY: "new" });
});

test.runIf(isThorough)(
  "KEY-1 ORG-10 several secrets are stored together or not at all, each with an audit entry",
  async () => {
    const setAll = (secrets: { keyName: string; secretValue: string }[]) =>
      setSecrets({ ctx: as(suite.organization.owner), input: { ...at(), secrets } });
    await set("SECOND", "before", { environments: ["production"] });
    const tooLong = Array.from({ length: 100 }, (_, index) => ({ keyName: `NAME_${index}`, secretValue: "x" }));
    expect((await refusal(setAll(tooLong))).fields).toEqual({ keyName: "At most 100 secrets" });
    expect(await processGets("production")).toEqual({ SECOND: "before" });
    const twice = { keyName: "FIRST", secretValue: "a" };
    expect(await refusalCode(setAll([twice, twice]))).toBe("invalid_input");
    const views = await setAll([twice, { keyName: "SECOND", secretValue: "after" }]);
    expect(views.map(({ keyName, environments }) => [keyName, environments])).toEqual([
      ["FIRST", ["production", "preview"]],
      ["SECOND", ["production"]],
    ]);
    expect(await processGets("production")).toEqual({ FIRST: "a", SECOND: "after" });
    const entries = await suite.database.db
      .select()
      .from(auditLog)
      .where(eq(auditLog.projectId, suite.project.id))
      .orderBy(auditLog.id);
    expect(entries.map((entry) => [entry.action, entry.subject])).toEqual([
      ["secret.create", "SECOND"],
      ["secret.create", "FIRST"],
      ["secret.update", "SECOND"],
    ]);
  },
);

test("KEY-1 concurrent changes get consecutive versions", async () => {
  await Promise.all(["a", "b", "c", "d"].map((value) => set("API_KEY", value)));
  const [row, ...others] = await rows();
  expect([row?.version, others]).toEqual([4, []]);
  expect(Object.keys(await processGets("production"))).toEqual(["API_KEY"]);
});

test("KEY-1 a secret is deleted; deleting it again is not found", async () => {
  await set("API_KEY", "very secret");
  const input = { ...at(), keyName: "API_KEY" };
  await deleteSecret({ ctx: as(suite.organization.owner), input });
  expect(await processGets("production")).toEqual({});
  expect(await refusalCode(deleteSecret({ ctx: as(suite.organization.owner), input }))).toBe("not_found");
});

test("KEY-1 ORG-10 each change is in the audit log, without the value", async () => {
  await set("API_KEY", "very secret");
  await set("API_KEY", "very secret too");
  await deleteSecret({ ctx: as(suite.organization.owner), input: { ...at(), keyName: "API_KEY" } });
  const entries = await suite.database.db
    .select()
    .from(auditLog)
    .where(eq(auditLog.projectId, suite.project.id))
    .orderBy(auditLog.id);
  expect(entries.map((entry) => [entry.action, entry.subject]).sort()).toEqual([
    ["secret.create", "API_KEY"],
    ["secret.delete", "API_KEY"],
    ["secret.update", "API_KEY"],
  ]);
  expect(JSON.stringify(entries)).not.toContain("very secret");
});

test.each([
  [{ keyName: "" }, "keyName", "Key name is required"],
  [{ keyName: "A".repeat(256) }, "keyName", "Key name is too long (max 255 characters)"],
  [{ keyName: "api-key" }, "keyName", "Key name must start with a letter or underscore and use only A-Z, 0-9, _"],
  [{ keyName: "TOWPATH_CLOUD_X" }, "keyName", "Key name cannot start with TOWPATH_CLOUD_ (reserved)"],
  [{ secretValue: "" }, "secretValue", "Secret value is required"],
  [{ environments: [] }, "environments", "Choose at least one environment"],
] satisfies [object, string, string][])("VAL-4 %j → %s: %s", async (wrong, field, text) => {
  const input = { ...at(), keyName: "API_KEY", secretValue: "x", ...wrong };
  expect((await refusal(createSecret({ ctx: as(suite.organization.owner), input }))).fields).toEqual({ [field]: text });
  expect(await rows()).toEqual([]);
});

test("KEY-1 a project has at most 100 secrets; replacing one still works", async () => {
  const template = await set("NAME_0", "x").then(async () => (await rows())[0]);
  if (!template) throw new Error("no secret");
  const more = Array.from({ length: 99 }, (_, index) => ({
    ...template,
    id: crypto.randomUUID(),
    keyName: `NAME_${index + 1}`,
  }));
  await suite.database.db.insert(secret).values(more);
  expect((await refusal(set("ONE_MORE", "x"))).fields).toEqual({ keyName: "At most 100 secrets" });
  await set("NAME_7", "y");
});

test("KEY-1 viewers can neither read nor change secrets, others don't find the project", async () => {
  await set("API_KEY", "very secret");
  const other = await seedOrganization(suite.database.db);
  for (const [actor, code] of [
    [await suite.organization.join("viewer"), "forbidden"],
    [other.owner, "not_found"],
  ] as const) {
    const ctx = as(actor);
    expect(await refusalCode(listSecrets({ ctx, input: at() }))).toBe(code);
    expect(await refusalCode(createSecret({ ctx, input: { ...at(), keyName: "NEW_KEY", secretValue: "x" } }))).toBe(
      code,
    );
    expect(await refusalCode(deleteSecret({ ctx, input: { ...at(), keyName: "API_KEY" } }))).toBe(code);
  }
  expect(await processGets("production")).toEqual({ API_KEY: "very secret" });
});

test("KEY-5 KEY-1 a variable is created once, changed, read and deleted in the project of an id", async () => {
  const ctx = as(suite.organization.owner);
  const input = { projectId: suite.project.id, keyName: "API_KEY" };
  const given = { description: " For the weather ", sensitive: false, environments: ["preview" as const] };
  const made = await createSecret({ ctx, input: { ...input, ...given, secretValue: "first" } });
  expect(made).toMatchObject({ description: "For the weather", sensitive: false, environments: ["preview"] });
  const again = await refusal(createSecret({ ctx, input: { ...input, secretValue: "second" } }));
  expect([again.code, again.message]).toEqual(["conflict", expect.stringContaining("variable API_KEY already exists")]);
  expect(await decryptSecret({ ctx, input })).toEqual({ secretValue: "first" });
  expect(await updateSecret({ ctx, input: { ...input, description: "" } })).toMatchObject({ description: null });
  expect(await listSecrets({ ctx, input })).toMatchObject([{ id: made.id, environments: ["preview"] }]);
  await deleteSecret({ ctx, input });
  expect(await refusalCode(updateSecret({ ctx, input: { ...input, secretValue: "third" } }))).toBe("not_found");
  expect(await listSecrets({ ctx, input })).toEqual([]);
});

test("KEY-5 an id of another organization's project, or of none, is not found", async () => {
  const other = await seedOrganization(suite.database.db);
  const foreign = await seedProject(suite.database.db, other);
  for (const projectId of [foreign.id, crypto.randomUUID(), "no-id"]) {
    const call = { ctx: as(suite.organization.owner), input: { projectId, keyName: "API_KEY", secretValue: "x" } };
    for (const verb of [createSecret, updateSecret, decryptSecret, deleteSecret, listSecrets])
      expect([projectId, verb.name, await refusalCode(verb(call))]).toEqual([projectId, verb.name, "not_found"]);
  }
});
