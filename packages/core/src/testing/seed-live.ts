import type { Database } from "@towpath/db";
import { build, deployment, route } from "@towpath/db/schema";
import type { Manifest } from "@towpath/mcp/manifest";
import { newId } from "../ids/index.ts";
import { type SeededOrganization, seedProject, shaOf } from "./seed.ts";

/** A manifest of a server with one tool. */
export const sampleManifest = (more: Partial<Manifest> = {}): Manifest => ({
  protocolVersion: "2025-11-25",
  server: { name: "sample", version: "1.0.0" },
  instructions: null,
  tools: [
    {
      tool_name: "echo",
      title: null,
      description: "Repeat the text",
      outputSchema: null,
      annotations: null,
      inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    },
  ],
  resources: [],
  templates: [],
  prompts: [],
  ...more,
});

/** A project that has production deployments, one for each build of `sequences`; the last one is live. */
export async function seedLiveProject(
  db: Database,
  owner: SeededOrganization,
  more: NonNullable<Parameters<typeof seedProject>[2]> = {},
  { manifest = sampleManifest(), sequences = [1] }: { manifest?: Manifest | null; sequences?: readonly number[] } = {},
) {
  const seeded = await seedProject(db, owner, more);
  const shared = { projectId: seeded.id, branchId: seeded.branchId };
  let deploymentId = "";
  for (const sequence of sequences) {
    const buildId = newId();
    deploymentId = newId();
    const commit = { commitSha: shaOf(`c${sequence}`), trigger: "push", entrypoint: "echo.py" };
    await db.insert(build).values({ ...shared, ...commit, id: buildId, status: "succeeded", sequence, manifest });
    const environment = "production";
    await db.insert(deployment).values({ ...shared, id: deploymentId, buildId, environment, slug: seeded.name });
  }
  const sequence = sequences.at(-1) ?? 0;
  const label = seeded.name.toLowerCase();
  await db.insert(route).values({ label, ...shared, deploymentId, sequence });
  return seeded;
}
