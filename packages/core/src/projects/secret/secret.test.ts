import { secret } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { createSecretBox } from "@towpath/secrets";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import type { Actor } from "../../context/index.ts";
import { refusal, seedOrganization, testContext } from "../../testing/index.ts";
import { deployProject } from "../project/index.ts";
import { secretKeyNameSchema } from "./index.ts";
import { secretValueSchema } from "./secret.schema.ts";
import { currentValues } from "./testing/current-values.ts";

const database = openTestDatabase();

const box = createSecretBox({ current: "a root secret for tests, at least 32 characters", previous: [] });
const as = (actor: Actor) => testContext(database.db, actor, { secrets: box });

test.each([
  ["", "Key name is required"],
  ["A".repeat(256), "Key name is too long (max 255 characters)"],
  ["1A", "Key name must start with a letter or underscore and use only A-Z, 0-9, _"],
  ["api_key", "Key name must start with a letter or underscore and use only A-Z, 0-9, _"],
  ["A-B", "Key name must start with a letter or underscore and use only A-Z, 0-9, _"],
  ["TOWPATH_CLOUD_URL", "Key name cannot start with TOWPATH_CLOUD_ (reserved)"],
  ["_A1", undefined],
  ["A".repeat(255), undefined],
])("VAL-4 key name %j → %s", (name, text) => {
  expect(secretKeyNameSchema.safeParse(name).error?.issues.map((issue) => issue.message)).toEqual(text && [text]);
});

test.each([
  ["an empty value", "", "Secret value is required"],
  ["64 KiB", "x".repeat(65_536), undefined],
  ["one byte more", "x".repeat(65_537), "Secret value is too long (max 64 KiB)"],
  // Three bytes each: as an environment variable, Linux would refuse to start the server.
  ["44,000 characters of 129 KiB", "字".repeat(44_000), "Secret value is too long (max 64 KiB)"],
  ["a NUL", "a\0b", "Secret value cannot contain a NUL character"],
])("VAL-4 RUN-4 a secret must fit into the environment of a process: %s", (_what, value, text) => {
  expect(secretValueSchema.safeParse(value).error?.issues.map((issue) => issue.message)).toEqual(text && [text]);
});

test("ONB-5 RUN-4 a new project's secrets are stored encrypted, and its server gets them", async () => {
  const organization = await seedOrganization(database.db);
  const input = {
    orgSlug: organization.slug,
    name: "with-secrets",
    installationId: organization.installationId,
    repositoryFullName: "a/b",
    entrypoint: "echo.py",
    trigger: "import" as const,
    secrets: [
      { keyName: "API_KEY", secretValue: "very secret" },
      { keyName: "REGION", secretValue: "eu" },
    ],
  };
  const twice = { ...input, secrets: [...input.secrets, ...input.secrets] };
  expect((await refusal(deployProject({ ctx: as(organization.owner), input: twice }))).fields).toEqual({
    secrets: "Each name can appear only once",
  });
  const { project } = await deployProject({ ctx: as(organization.owner), input });
  const rows = await database.db.select().from(secret).where(eq(secret.projectId, project.id));
  expect(rows).toHaveLength(2);
  expect(JSON.stringify(rows)).not.toContain("very secret");
  const audits = await database.pool.query("SELECT detail FROM audit_log WHERE project_id = $1", [project.id]);
  expect(JSON.stringify(audits.rows)).not.toContain("very secret");
  for (const environment of ["production", "preview"] as const)
    expect(await currentValues(database.db, box, { projectId: project.id, environment })).toEqual({
      API_KEY: "very secret",
      REGION: "eu",
    });
});
