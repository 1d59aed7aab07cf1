import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { openTestDatabase } from "./testing/test-database.ts";

const database = openTestDatabase();
const ids = Array.from({ length: 7 }, () => randomUUID());
const [organization, project, branch, build, deployment, external, portal] = ids;
beforeAll(async () => {
  const statements: [string, unknown[]][] = [
    ["INSERT INTO organization (id, name, slug) VALUES ($1, 'Acme', 'acme')", [organization]],
    [
      "INSERT INTO project (id, organization_id, name, entrypoint) VALUES ($1, $2, 'server', 'server.py')",
      [project, organization],
    ],
    ["INSERT INTO branch (id, project_id, name, is_default) VALUES ($1, $2, 'main', true)", [branch, project]],
    [
      `INSERT INTO build (id, project_id, branch_id, status, commit_sha, trigger, sequence, entrypoint)
       VALUES ($1, $2, $3, 'succeeded', 'abc', 'push', 1, 'server.py')`,
      [build, project, branch],
    ],
    [
      `INSERT INTO deployment (id, project_id, branch_id, build_id, environment, slug)
       VALUES ($1, $2, $3, $4, 'production', 'server')`,
      [deployment, project, branch, build],
    ],
    [
      "INSERT INTO external_server (id, project_id, url) VALUES ($1, $2, 'https://elsewhere.example/mcp')",
      [external, project],
    ],
    ["INSERT INTO portal (id, project_id) VALUES ($1, $2)", [portal, project]],
  ];
  for (const [text, values] of statements) await database.pool.query(text, values);
});

type Target = { kind?: string; branch?: unknown; deployment?: unknown; external?: unknown; portal?: unknown };

async function insert({ kind, ...target }: Target): Promise<void> {
  const values = [project, target.branch, target.deployment, target.external, target.portal, kind];
  await database.pool.query(
    `INSERT INTO route (label, project_id, branch_id, deployment_id, external_server_id, portal_id, target_kind)
     VALUES (gen_random_uuid()::text, $1, $2, $3, $4, $5, $6)`,
    values.map((value) => value ?? null),
  );
  await database.pool.query("DELETE FROM route");
}

test("OPS-3 a route has exactly one target, of its kind", async () => {
  await insert({ kind: "deployment", branch, deployment });
  await insert({ kind: "external", external });
  await insert({ kind: "portal", portal });
  const wrong: Target[] = [
    { kind: "deployment", branch },
    { kind: "deployment", deployment },
    { kind: "deployment", branch, deployment, portal },
    { kind: "deployment", branch, external },
    { kind: "external" },
    { kind: "external", branch, external },
    { kind: "external", external, portal },
    { kind: "portal", external },
    { kind: "other", portal },
  ];
  for (const target of wrong) {
    await expect(insert(target), JSON.stringify(target)).rejects.toThrow("route_target_check");
  }
  await expect(insert({ kind: "external", external: randomUUID() })).rejects.toThrow("foreign key");
  await expect(insert({ kind: "portal", portal: randomUUID() })).rejects.toThrow("foreign key");
});

test("OPS-3 the previous version, which has no target kinds, can still write routes", async () => {
  const statement = `INSERT INTO route (label, project_id, branch_id, deployment_id, sequence) VALUES ('server', $1, $2, $3, 1)
     ON CONFLICT (branch_id) DO UPDATE SET deployment_id = excluded.deployment_id WHERE route.sequence <= excluded.sequence`;
  for (let time = 0; time < 2; time++) await database.pool.query(statement, [project, branch, deployment]);
  const { rows } = await database.pool.query("SELECT target_kind, deployment_id FROM route");
  expect(rows).toEqual([{ target_kind: "deployment", deployment_id: deployment }]);
});
