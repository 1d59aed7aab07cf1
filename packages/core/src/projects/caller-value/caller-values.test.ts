import { callerValue } from "@towpath/db/schema";
import { createSecretBox, openSecrets, readCallerValues as read } from "@towpath/secrets";
import { eq } from "drizzle-orm";
import { beforeEach, expect, test } from "vitest";
import type { Actor } from "../../context/index.ts";
import { refusal, refusalCode, seedOrganization, testContext } from "../../testing/index.ts";
import { openProjectSuite } from "../../testing/project-suite.ts";
import { seedLiveProject } from "../../testing/seed-live.ts";
import { updateProject } from "../project/index.ts";
import { createSecret, deleteSecret, listSecrets, readValuesToRedact, updateSecret } from "../secret/index.ts";
import { deleteCallerValue, listCallerServers, readCallerCheck, readCallerValues, setCallerValues } from "./index.ts";

const box = createSecretBox({ current: "a root secret for tests, at least 32 characters", previous: [] });
const suite = openProjectSuite({ secrets: box });
const keyName = "API_TOKEN";
const at = () => ({ projectId: suite.project.id });
type Person = Extract<Actor, { readonly kind: "user" }>;
let people: Readonly<Record<"owner" | "member" | "viewer", Person>>;
const as = (role: keyof typeof people) => suite.as(people[role]);

beforeEach(async () => {
  const { owner, join } = suite.organization;
  people = {
    owner: owner as Person,
    member: (await join("member")) as Person,
    viewer: (await join("viewer")) as Person,
  };
  const secret = { ...at(), keyName, secretValue: "of-the-build", perCaller: true, description: "From your profile." };
  await createSecret({ ctx: as("owner"), input: secret });
});

const set = (role: keyof typeof people, value: string) =>
  setCallerValues({ ctx: as(role), input: { ...at(), values: [{ keyName, value }] } });

test("CAP-1 a person sets, replaces and deletes their own value, which nobody reads back", async () => {
  expect((await readCallerValues({ ctx: as("member"), input: at() })).values).toEqual([
    { keyName, description: "From your profile.", setAt: null },
  ]);
  const view = await set("member", "token-of-the-member");
  expect(view.values).toMatchObject([{ keyName, setAt: expect.any(String) }]);
  expect(JSON.stringify([view, await listSecrets({ ctx: as("owner"), input: at() })])).not.toContain("token-of");
  expect((await readCallerValues({ ctx: as("owner"), input: at() })).values).toMatchObject([{ setAt: null }]);
  await set("member", "another-one");
  const rows = await suite.database.db.select().from(callerValue).where(eq(callerValue.projectId, suite.project.id));
  expect(rows).toMatchObject([{ version: 2, userId: people.member.userId }]);
  const gone = await deleteCallerValue({ ctx: as("member"), input: { ...at(), keyName } });
  expect(gone.values).toMatchObject([{ setAt: null }]);
  expect(await refusalCode(deleteCallerValue({ ctx: as("member"), input: { ...at(), keyName } }))).toBe("not_found");
});

test("CAP-1 a value opens for its person only, also where rows are exchanged", async () => {
  const live = await seedLiveProject(suite.database.db, suite.organization);
  const input = { projectId: live.id };
  await createSecret({ ctx: as("owner"), input: { ...input, keyName, secretValue: "x", perCaller: true } });
  const values = (value: string) => ({ ...input, values: [{ keyName, value }] });
  await setCallerValues({ ctx: as("member"), input: values("of-the-member") });
  await setCallerValues({ ctx: as("owner"), input: values("of-the-owner") });
  const { pool } = suite.database;
  const { rows } = await pool.query("SELECT id FROM deployment WHERE project_id = $1", [live.id]);
  const of = async ({ userId }: { userId: string }) => {
    const found = await read(pool, { deploymentId: rows[0].id, userId });
    return found && openSecrets(box, found.stored);
  };
  const { member, owner, viewer } = people;
  expect([await of(member), await of(owner), await of(viewer)]).toEqual([
    { [keyName]: "of-the-member" },
    { [keyName]: "of-the-owner" },
    {},
  ]);
  // Whoever can write to the database still can't give one person's value to another.
  await pool.query(
    `UPDATE caller_value SET ciphertext = (SELECT ciphertext FROM caller_value WHERE user_id = $1 AND project_id = $3)
     WHERE user_id = $2 AND project_id = $3`,
    [member.userId, owner.userId, live.id],
  );
  await expect(of(owner)).rejects.toThrow("can't be decrypted");
});

test("CAP-1 values go with the variable or the membership, and are asked for only while it is per caller", async () => {
  await set("member", "token");
  await updateSecret({ ctx: as("owner"), input: { ...at(), keyName, perCaller: false } });
  expect((await readCallerValues({ ctx: as("member"), input: at() })).values).toEqual([]);
  expect(await refusalCode(set("member", "token"))).toBe("invalid_input");
  expect(await listCallerServers({ ctx: as("member"), input: undefined })).toEqual([]);
  await updateSecret({ ctx: as("owner"), input: { ...at(), keyName, perCaller: true } });
  expect(await listCallerServers({ ctx: as("member"), input: undefined })).toMatchObject([
    { name: suite.project.name, values: [{ setAt: expect.any(String) }] },
  ]);
  await set("viewer", "token");
  await suite.database.pool.query("DELETE FROM member WHERE user_id = $1", [people.viewer.userId]);
  expect(await suite.database.db.$count(callerValue, eq(callerValue.projectId, suite.project.id))).toBe(1);
  await deleteSecret({ ctx: as("owner"), input: { ...at(), keyName } });
  const ofProject = eq(callerValue.projectId, suite.project.id);
  expect(await suite.database.db.$count(callerValue, ofProject)).toBe(0);
});

test("CAP-1 who is no person of the organization has no values", async () => {
  const other = await seedOrganization(suite.database.db);
  expect(await refusalCode(readCallerValues({ ctx: testContext(suite.database.db, other.owner), input: at() }))).toBe(
    "not_found",
  );
  const key = {
    kind: "apiKey",
    keyId: "k",
    organizationId: suite.organization.id,
    userId: null,
    projectIds: null,
    ipAddress: null,
  } as const;
  expect(await refusalCode(readCallerValues({ ctx: suite.as(key), input: at() }))).toBe("forbidden");
  const operator = { kind: "operator", ipAddress: null } as const;
  expect(await refusalCode(listCallerServers({ ctx: suite.as(operator), input: undefined }))).toBe("forbidden");
  expect(await refusalCode(set("member", ""))).toBe("invalid_input");
});

test("CAP-1 values of a person must fit into the environment of a process, with the variables that all share", async () => {
  for (const name of ["SECOND", "THIRD"])
    await createSecret({ ctx: as("owner"), input: { ...at(), keyName: name, secretValue: "x", perCaller: true } });
  const given = (name: string) => ({ keyName: name, value: "y".repeat(60 * 1024) });
  const store = (...names: string[]) =>
    setCallerValues({ ctx: as("member"), input: { ...at(), values: names.map(given) } });
  expect((await refusal(store("SECOND", "THIRD", keyName))).fields).toEqual({
    values: expect.stringContaining("would have 181 KiB together"),
  });
  expect((await readCallerValues({ ctx: as("member"), input: at() })).values.every(({ setAt }) => setAt === null)).toBe(
    true,
  );
  await store("SECOND", "THIRD");
});

const probe = { tool: "whoami", arguments: { limit: 1 } };
const changeProject = (changes: object, role: keyof typeof people = "owner") => {
  const input = { orgSlug: suite.organization.slug, projectName: suite.project.name, ...changes };
  return updateProject({ ctx: as(role), input });
};

test("CAP-1 the owner names a tool call that checks values, which is refused until there is one and the person has all", async () => {
  const check = (role: keyof typeof people) => readCallerCheck({ ctx: as(role), input: at() });
  expect((await refusal(check("member"))).message).toContain("has named no tool call");
  expect(await refusalCode(changeProject({ callerProbe: probe }, "viewer"))).toBe("forbidden");
  for (const callerProbe of [
    { tool: " ", arguments: {} },
    { tool: "x", arguments: { text: "a\u0000b" } },
    { tool: "x", arguments: { text: "x".repeat(5000) } },
  ])
    expect(await refusalCode(changeProject({ callerProbe }))).toBe("invalid_input");
  expect(await changeProject({ callerProbe: probe })).toMatchObject({ callerProbe: probe });
  expect(await readCallerValues({ ctx: as("member"), input: at() })).toMatchObject({ isChecked: true });
  expect((await refusal(check("member"))).message).toBe(`Enter your own ${keyName} first.`);
  await set("member", "token-of-the-member");
  expect(await check("member")).toEqual({
    probe,
    caller: { projectId: suite.project.id, userId: people.member.userId },
    keyNames: [keyName],
  });
  await changeProject({ authMode: "towpath-public" });
  expect((await refusal(check("member"))).message).toContain("lets everybody in");
  expect(await changeProject({ callerProbe: null })).toMatchObject({ callerProbe: null });
});

test("CAP-1 KEY-4 what is removed from a server's answers to a person are their own values", async () => {
  const live = await seedLiveProject(suite.database.db, suite.organization);
  const input = { projectId: live.id };
  await createSecret({ ctx: as("owner"), input: { ...input, keyName, secretValue: "of-the-build", perCaller: true } });
  await setCallerValues({ ctx: as("member"), input: { ...input, values: [{ keyName, value: "of-the-member" }] } });
  const { rows } = await suite.database.pool.query("SELECT id FROM deployment WHERE project_id = $1", [live.id]);
  const values = (role: keyof typeof people) =>
    readValuesToRedact({ ctx: as(role), input: { ...input, deploymentId: rows[0].id } });
  expect(await values("member")).toEqual({ [keyName]: "of-the-member" });
  expect(JSON.stringify(await values("owner"))).not.toContain("of-the-member");
  const audited = await suite.database.pool.query(
    "SELECT FROM audit_log WHERE project_id = $1 AND detail ->> 'caller' = $2 AND detail ->> 'reason' = 'redaction'",
    [live.id, people.member.userId],
  );
  expect(audited.rowCount).toBe(1);
});
