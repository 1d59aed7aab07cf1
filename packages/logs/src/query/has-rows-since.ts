import type { Reader } from "./reader.ts";

/** Whether a project's log has a row of a message since then. The caller has checked access to the project. */
export async function hasRowsSince(reader: Reader, projectId: string, since: Date): Promise<boolean> {
  const { rows } = await reader.query<{ found: boolean }>(
    `SELECT EXISTS (SELECT FROM request_log WHERE project_id = $1 AND time >= $2) AS found`,
    [projectId, since],
  );
  return rows[0]?.found === true;
}
