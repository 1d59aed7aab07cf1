import { type RecordedAnswers, recordedAnswersSchema } from "@towpath/mcp/manifest";
import type { Pool } from "pg";

/** `bytes`: of the answers as they are stored. */
export type StoredAnswers = { deploymentId: string; answers: RecordedAnswers; bytes: number };

/** Loads recorded answers of deployments (GW-12). Skips those that this version cannot parse. */
export type LoadRecordedAnswers = (deploymentIds: readonly string[]) => Promise<StoredAnswers[]>;

export function createLoadRecordedAnswers(pool: Pool): LoadRecordedAnswers {
  return async (deploymentIds) => {
    const { rows } = await pool.query<{ deploymentId: string; answers: string; bytes: number }>(
      `SELECT deployment.id AS "deploymentId", recorded.answers, recorded.bytes
       FROM deployment JOIN recorded_answers recorded ON recorded.build_id = deployment.build_id
       WHERE deployment.id = ANY ($1)`,
      [deploymentIds],
    );
    return rows.flatMap(({ deploymentId, answers, bytes }) => {
      const parsed = recordedAnswersSchema.safeParse(JSON.parse(answers));
      return parsed.success ? [{ deploymentId, answers: parsed.data, bytes }] : [];
    });
  };
}
