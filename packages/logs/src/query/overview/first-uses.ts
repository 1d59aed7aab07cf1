import type { Reader } from "../reader.ts";
import { isUse } from "./use-condition.ts";

/** Names of our own clients: the dashboard's inspector and chat, and the terminal. */
const ownClients = "towpath%";

/**
 * Whether a project was ever called successfully, by anybody, and whether a client other than ours ever got an answer,
 * within the log and up to the last fold, some seconds ago (SRC-4). The caller has checked access to the project.
 */
export async function firstUses(
  reader: Reader,
  projectId: string,
): Promise<{ readonly isCalled: boolean; readonly isConnected: boolean }> {
  const { rows } = await reader.query<{ isCalled: boolean; isConnected: boolean }>(
    `SELECT
       EXISTS (SELECT FROM request_log_series AS s WHERE project_id = $1 AND class = 0 AND ${isUse("s")}) AS "isCalled",
       EXISTS (SELECT FROM request_log_caller WHERE project_id = $1 AND calls > refused
         AND client_name IS NOT NULL AND client_name NOT ILIKE $2) AS "isConnected"`,
    [projectId, ownClients],
  );
  return rows[0] ?? { isCalled: false, isConnected: false };
}
