import type { openDatabase } from "@towpath/db";

type Pool = ReturnType<typeof openDatabase>["pool"];

/** Makes project `to` with the live build of project `from`: hundreds of real deploys would take half an hour. */
export async function copyProject(pool: Pool, from: string, to: string): Promise<void> {
  const columns = async (table: string, ...others: string[]) => {
    const { rows } = await pool.query<{ name: string }>(
      "SELECT column_name AS name FROM information_schema.columns WHERE table_schema = 'public' AND table_name = $1",
      [table],
    );
    return rows.map(({ name }) => name).filter((name) => !others.includes(name));
  };
  const ids = Object.fromEntries(
    ["project", "branch", "build", "deployment"].map((each) => [each, crypto.randomUUID()]),
  );
  const insert = async (table: string, values: Record<string, string | undefined>, source: string) => {
    const same = await columns(table, ...Object.keys(values));
    const named = Object.keys(values);
    await pool.query(
      `INSERT INTO "${table}" (${[...same, ...named].join(", ")})
       SELECT ${[...same.map((name) => `"${table}".${name}`), ...named.map((_, at) => `$${at + 2}`)].join(", ")}
       FROM "${table}" ${source}`,
      [from, ...Object.values(values)],
    );
  };
  const ofProject = `JOIN project of ON of.id = "branch".project_id WHERE of.name = $1`;
  await insert("project", { id: ids.project, name: to }, "WHERE name = $1");
  await insert("branch", { id: ids.branch, project_id: ids.project }, ofProject);
  for (const table of ["build", "deployment"] as const) {
    const own = { id: ids[table], project_id: ids.project, branch_id: ids.branch };
    const more = table === "deployment" ? { build_id: ids.build, slug: to } : {};
    await insert(table, { ...own, ...more }, ofProject.replaceAll('"branch"', `"${table}"`));
  }
  const recorded = `JOIN build ON build.id = build_id JOIN project of ON of.id = build.project_id WHERE of.name = $1`;
  await insert("recorded_answers", { build_id: ids.build }, recorded);
  const route = { label: to, project_id: ids.project, branch_id: ids.branch, deployment_id: ids.deployment };
  await insert("route", route, ofProject.replaceAll('"branch"', '"route"'));
}
