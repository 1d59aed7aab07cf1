import { newId } from "@towpath/core/ids";
import type { Database } from "@towpath/db";
import { branch, build, deployment, organization, project, route } from "@towpath/db/schema";

const digest = (letter: string) => letter.repeat(64);

/** A live deployment with everything that it stands on, in an organization of its own. */
export async function seedDeployment(
  db: Database,
  change: { entrypoint?: string; layers?: object; environment?: "production" | "preview" } = {},
) {
  const ids = {
    organizationId: newId(),
    projectId: newId(),
    branchId: newId(),
    buildId: newId(),
    deploymentId: newId(),
  };
  const name = `echo-${ids.projectId.slice(-12)}`;
  await db.insert(organization).values({ id: ids.organizationId, name, slug: name });
  await db.insert(project).values({
    id: ids.projectId,
    organizationId: ids.organizationId,
    name,
    repositoryFullName: "someone/echo",
    entrypoint: "echo.py:mcp",
  });
  await db.insert(branch).values({ id: ids.branchId, projectId: ids.projectId, name: "main", isDefault: true });
  await db.insert(build).values({
    id: ids.buildId,
    projectId: ids.projectId,
    branchId: ids.branchId,
    status: "succeeded",
    commitSha: "c".repeat(40),
    trigger: "import",
    sequence: 1,
    // Builds by earlier versions have only what was set; others what they start, whether it was set or found.
    ...(change.entrypoint === undefined
      ? { entrypoint: "echo.py:mcp" }
      : { entrypoint: "", program: { entrypoint: change.entrypoint, arguments: [] } }),
    layers: change.layers ?? { pythonVersion: "3.11", dependencies: digest("d"), code: digest("e") },
  });
  await db.insert(deployment).values({
    id: ids.deploymentId,
    projectId: ids.projectId,
    branchId: ids.branchId,
    buildId: ids.buildId,
    environment: change.environment ?? "production",
    slug: name,
  });
  const { projectId, branchId, deploymentId } = ids;
  await db.insert(route).values({ label: name, projectId, branchId, deploymentId, sequence: 1 });
  return { ...ids, name };
}

/** A further deployment of the same branch, without a route. Returns its id. */
export async function addDeployment(
  db: Database,
  { projectId, branchId, name }: Pick<Awaited<ReturnType<typeof seedDeployment>>, "projectId" | "branchId" | "name">,
  status: "succeeded" | "building" = "succeeded",
): Promise<string> {
  const [buildId, deploymentId] = [newId(), newId()];
  await db.insert(build).values({
    id: buildId,
    projectId,
    branchId,
    status,
    sequence: 2,
    commitSha: "d".repeat(40),
    trigger: "push",
    entrypoint: "echo.py:mcp",
  });
  await db
    .insert(deployment)
    .values({ id: deploymentId, projectId, branchId, buildId, environment: "production", slug: name });
  return deploymentId;
}
