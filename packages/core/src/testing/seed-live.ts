import type { Database } from "@towpath/db";
import { build, deployment, route } from "@towpath/db/schema";
import type { Manifest } from "@towpath/mcp/manifest";
import { newId } from "../ids/index.ts";
import { type SeededOrganization, seedProject, shaOf } from "./seed.ts";

export const sampleTool = (tool_name: string, more: Partial<Manifest["tools"][number]> = {}) => ({
  tool_name,
  title: null,
  description: `What ${tool_name} does`,
  inputSchema: {},
  outputSchema: null,
  annotations: null,
  ...more,
});

/** A manifest of a server with one tool. */
export const sampleManifest = (more: Partial<Manifest> = {}): Manifest => ({
  protocolVersion: "2025-11-25",
  server: { name: "sample", version: "1.0.0" },
  instructions: null,
  tools: [
    sampleTool("echo", {
      description: "Repeat the text",
      inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    }),
  ],
  resources: [],
  templates: [],
  prompts: [],
  ...more,
});

type LiveVersion = Partial<Omit<typeof build.$inferInsert, "projectId" | "branchId">> & {
  readonly label: string;
  readonly environment?: "production" | "preview";
};

/** A version of a branch, live under the label in place of what was there; the rest are columns of its build. */
export async function seedLiveVersion(
  db: Database,
  of: { readonly id: string; readonly branchId: string },
  { label, environment = "production", ...columns }: LiveVersion,
) {
  const { id: buildId = newId(), sequence = 1 } = columns;
  const deploymentId = newId();
  const ids = { projectId: of.id, branchId: of.branchId };
  const commit = { commitSha: shaOf(`c${sequence}`), trigger: "push", entrypoint: "echo.py", status: "succeeded" };
  await db.insert(build).values({ ...ids, ...commit, manifest: sampleManifest(), ...columns, id: buildId, sequence });
  await db.insert(deployment).values({ ...ids, id: deploymentId, buildId, environment, slug: label });
  await db
    .insert(route)
    .values({ ...ids, label, deploymentId, sequence })
    .onConflictDoUpdate({ target: route.label, set: { deploymentId, sequence } });
  return { buildId, deploymentId };
}

/** A project that has production deployments, one for each build of `sequences`; the last one is live. */
export async function seedLiveProject(
  db: Database,
  owner: SeededOrganization,
  more: NonNullable<Parameters<typeof seedProject>[2]> = {},
  { manifest = sampleManifest(), sequences = [1] }: { manifest?: Manifest | null; sequences?: readonly number[] } = {},
) {
  const seeded = await seedProject(db, owner, more);
  for (const sequence of sequences)
    await seedLiveVersion(db, seeded, { label: seeded.name.toLowerCase(), sequence, manifest });
  return seeded;
}
