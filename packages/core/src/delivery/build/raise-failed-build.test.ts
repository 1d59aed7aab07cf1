import { alertEvent, branch, build } from "@towpath/db/schema";
import { eq, sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { newId } from "../../ids/index.ts";
import { sampleDiagnosis, shaOf } from "../../testing/index.ts";
import { openProjectSuite } from "../../testing/project-suite.ts";
import { failBuild, requeueLostBuilds, startBuild, takeBuild } from "./index.ts";

const suite = openProjectSuite();
const worker = () => suite.as({ kind: "job", job: "build.run" });
const events = async () =>
  (
    await suite.database.db
      .select({ detail: alertEvent.detail })
      .from(alertEvent)
      .where(eq(alertEvent.projectId, suite.project.id))
  ).map(({ detail }) => detail);

async function take(change: { readonly branch?: string } = {}): Promise<string> {
  const input = { ...suite.at(), commitSha: shaOf("a"), trigger: "cli" as const, ...change };
  const { build: queued } = await startBuild({ ctx: suite.as(suite.organization.owner), input });
  await takeBuild({ ctx: worker(), input: { buildId: queued.id } });
  return queued.id;
}

test("CAP-6 a build for production that fails is an alert with its cause and remedy, once", async () => {
  const buildId = await take();
  const input = { buildId, attempt: 1, diagnosis: sampleDiagnosis };
  expect(await failBuild({ ctx: worker(), input })).toBe(true);
  expect(await failBuild({ ctx: worker(), input })).toBe(false);
  expect(await events()).toEqual([
    {
      kind: "deployment.failed",
      projectId: suite.project.id,
      buildId,
      branch: "main",
      built: shaOf("a").slice(0, 7),
      title: sampleDiagnosis.title,
      remedy: sampleDiagnosis.remedy,
    },
  ]);
});

test("CAP-6 one of another branch is a kind of its own, and one that lost its workers is an alert too", async () => {
  const { db } = suite.database;
  const branchId = newId();
  await db.insert(branch).values({ id: branchId, projectId: suite.project.id, name: "fix" });
  const buildId = newId();
  const values = {
    projectId: suite.project.id,
    branchId,
    commitSha: shaOf("b"),
    trigger: "push",
    entrypoint: "echo.py",
  };
  await db.insert(build).values({ ...values, id: buildId, sequence: 1, status: "building", attempt: 3 });
  await db.execute(sql`UPDATE build SET updated_at = now() - interval '1 hour' WHERE id = ${buildId}`);
  const { failed } = await requeueLostBuilds({ ctx: worker(), input: { staleMs: 60_000 } });
  expect(failed).toContain(buildId);
  expect(await events()).toMatchObject([
    { kind: "preview.failed", buildId, branch: "fix", remedy: expect.any(String) },
  ]);
});
