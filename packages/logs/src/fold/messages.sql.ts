/** CTE `written_messages`: the distinct error messages. */
export const writtenMessagesCte = `
  written_messages AS MATERIALIZED (
    SELECT project_id, message, hashtextextended(message, 0) AS hash, min(first_minute) AS first_seen,
      max(last_minute) AS last_seen
    FROM taken, unnest(messages) AS message GROUP BY 1, 2
  )`;

/** Stores error messages; those beyond the limit as one with the id 0. */
export const keepMessagesCte = `
  messages_kept AS (
    INSERT INTO request_log_message AS k (project_id, id, search_text, first_seen, last_seen)
    SELECT m.project_id, CASE WHEN b.hash IS NULL THEN m.hash ELSE 0 END,
      CASE WHEN bool_and(b.hash IS NULL) THEN min(lower(m.message)) ELSE '' END, min(m.first_seen), max(m.last_seen)
    FROM written_messages AS m
    LEFT JOIN beyond AS b ON b.kind = 'message' AND b.project_id = m.project_id AND b.hash = m.hash GROUP BY 1, 2
    ON CONFLICT (project_id, id) DO UPDATE SET first_seen = least(k.first_seen, excluded.first_seen),
      last_seen = greatest(k.last_seen, excluded.last_seen)
  )`;
