import { build } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import type { Actor } from "../../context/index.ts";
import { getProject, listProjects, updateProject } from "../../projects/project/index.ts";
import type { AuthMode } from "../../projects/project/project.schema.ts";
import { openOrganization, sampleOutcome, seedProject, shaOf, testContext } from "../../testing/index.ts";
import { createDeployment, goLive } from "../deployment/index.ts";
import type { BuildWarning } from "./build-contract.schema.ts";
import { getBuild, listBuilds, startBuild, takeBuild } from "./index.ts";

const database = openTestDatabase();
const organization = openOrganization(database);

const as = (actor: Actor) => testContext(database.db, actor);
const worker = () => as({ kind: "job", job: "build.run" });
const start = (project: { name: string }, name: string) =>
  startBuild({
    ctx: as(organization.owner),
    input: { orgSlug: organization.slug, projectName: project.name, commitSha: shaOf(name), trigger: "cli" },
  });

test("BLD-6 warnings are stored with their build, in text that the database accepts", async () => {
  const project = await seedProject(database.db, organization);
  const { build: queued } = await start(project, "a");
  const input = { buildId: queued.id };
  await takeBuild({ ctx: worker(), input });
  const warning: BuildWarning = {
    code: "list_failed",
    title: "No list",
    detail: "It printed \0\ud800.",
    remedy: "Fix it.",
  };
  const outcome = { ...sampleOutcome({ ...input, attempt: 1 }), manifest: null, warnings: [warning] };
  await createDeployment({ ctx: worker(), input: outcome });
  const shown = await getBuild({ ctx: as(organization.owner), input });
  expect(shown.manifest).toBeNull();
  expect(shown.warnings).toEqual([{ ...warning, detail: "It printed \ufffd\ufffd." }]);
});

test("BLD-6 lists and the project show the live build's number of warnings", async () => {
  const project = await seedProject(database.db, organization);
  const scope = { orgSlug: organization.slug, projectName: project.name };
  const ctx = as(organization.owner);
  const shown = async () => {
    const listed = (await listProjects({ ctx, input: { orgSlug: organization.slug } })).find(
      ({ id }) => id === project.id,
    );
    const { isLive, liveWarnings } = await getProject({ ctx, input: scope });
    expect(listed).toMatchObject({ isLive, liveWarnings });
    return { isLive, liveWarnings, newest: listed?.latestBuild?.warningCount };
  };
  const { build: queued } = await start(project, "a");
  const fence = { buildId: queued.id, attempt: 1 };
  await takeBuild({ ctx: worker(), input: fence });
  const warning: BuildWarning = {
    code: "nothing_offered",
    title: "Empty",
    detail: "It offers nothing.",
    remedy: "Add a tool.",
  };
  await createDeployment({ ctx: worker(), input: { ...sampleOutcome(fence), warnings: [warning, warning] } });
  expect(await shown()).toEqual({ isLive: false, liveWarnings: 0, newest: 2 });
  await goLive({ ctx: worker(), input: { ...fence, timings: {} } });
  expect(await shown()).toEqual({ isLive: true, liveWarnings: 2, newest: 2 });
  const { data } = await listBuilds({ ctx, input: scope });
  expect(data.map(({ warningCount }) => warningCount)).toEqual([2]);
});

test("GW-4 PRJ-12 the warning about a server's own sign-in follows the auth mode as it is now, everywhere", async () => {
  const project = await seedProject(database.db, organization);
  const scope = { orgSlug: organization.slug, projectName: project.name };
  const ctx = as(organization.owner);
  const { build: queued } = await start(project, "a");
  const fence = { buildId: queued.id, attempt: 1 };
  await takeBuild({ ctx: worker(), input: fence });
  await createDeployment({ ctx: worker(), input: { ...sampleOutcome(fence), ownSignIn: true } });
  await goLive({ ctx: worker(), input: { ...fence, timings: {} } });
  const shown = async () => {
    const { warnings } = await getBuild({ ctx, input: { buildId: queued.id } });
    const codes = warnings.map(({ code }) => code);
    const { liveWarnings, ownSignIn } = await getProject({ ctx, input: scope });
    const listed = (await listProjects({ ctx, input: { orgSlug: organization.slug } })).find(
      ({ id }) => id === project.id,
    );
    const [row] = (await listBuilds({ ctx, input: scope })).data;
    const counts = [liveWarnings, listed?.liveWarnings, listed?.latestBuild?.warningCount, row?.warningCount];
    expect([codes, counts]).toEqual([codes, Array(4).fill(codes.length)]);
    expect(listed?.ownSignIn).toBe(ownSignIn);
    return [...codes, ownSignIn];
  };
  const inMode = async (authMode: AuthMode) => {
    const { liveWarnings } = await updateProject({ ctx, input: { ...scope, authMode } });
    const found = await shown();
    expect(liveWarnings).toBe(found.length - 1);
    return found;
  };
  const stored = (ownSignIn: boolean | null, warnings: BuildWarning[] | null = null) =>
    database.db.update(build).set({ ownSignIn, warnings }).where(eq(build.id, queued.id));
  expect(await inMode("towpath-cloud")).toEqual(["sign_in_unreachable", true]);
  expect(await inMode("towpath-public")).toEqual(["sign_in_hidden", true]);
  expect(await inMode("passthrough")).toEqual([true]);
  await stored(false);
  expect(await shown()).toEqual(["open_to_anyone", false]);
  expect(await inMode("towpath-cloud")).toEqual([false]);
  // Builds of earlier versions: nothing is known, or a stored warning says it.
  await stored(null);
  for (const mode of ["towpath-cloud", "towpath-public", "passthrough"] as const)
    expect(await inMode(mode)).toEqual([null]);
  const other: BuildWarning = { code: "nothing_offered", title: "Empty", detail: "It offers nothing.", remedy: "Add." };
  await stored(null, [{ ...other, code: "sign_in_unreachable" }, other]);
  expect(await shown()).toEqual(["nothing_offered", true]);
  expect(await inMode("towpath-cloud")).toEqual(["sign_in_unreachable", "nothing_offered", true]);
});
