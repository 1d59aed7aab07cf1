import { z } from "zod";
import { type Database, timestamp } from "./database.ts";

/** What an App attaches to commits and pull requests. `subject`: the sha, deployment id or pull request number. */
const annotationKindSchema = z.enum(["status", "check_run", "deployment", "deployment_status", "issue_comment"]);
export type AnnotationKind = z.infer<typeof annotationKindSchema>;

const annotationRowSchema = z.object({
  id: z.number(),
  kind: annotationKindSchema,
  subject: z.string(),
  content: z
    .string()
    .transform((text): unknown => JSON.parse(text))
    .pipe(z.record(z.string(), z.unknown())),
  created_at: z.string(),
  updated_at: z.string(),
});
export type Annotation = z.infer<typeof annotationRowSchema>;

/** Newest first. */
export function listAnnotations(
  database: Database,
  repositoryId: number,
  kind: AnnotationKind,
  subject?: string,
): Annotation[] {
  const sql =
    "SELECT * FROM annotation WHERE repository_id = ?1 AND kind = ?2 AND (?3 IS NULL OR subject = ?3) ORDER BY id DESC LIMIT 1000";
  return database.all(annotationRowSchema, sql, repositoryId, kind, subject ?? null);
}

export function findAnnotation(
  database: Database,
  repositoryId: number,
  kind: AnnotationKind,
  id: number,
): Annotation | null {
  const sql = "SELECT * FROM annotation WHERE repository_id = ? AND kind = ? AND id = ?";
  return database.get(annotationRowSchema, sql, repositoryId, kind, id);
}

export function insertAnnotation(
  database: Database,
  input: { repositoryId: number; kind: AnnotationKind; subject: string; content: Record<string, unknown> },
): Annotation {
  const now = timestamp();
  const row = database.get(
    annotationRowSchema,
    "INSERT INTO annotation (repository_id, kind, subject, content, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?5) RETURNING *",
    input.repositoryId,
    input.kind,
    input.subject,
    JSON.stringify(input.content),
    now,
  );
  if (row === null) throw new Error("an inserted annotation did not come back");
  return row;
}

/** Merges: given keys replace the old ones, the others stay. */
export function updateAnnotation(
  database: Database,
  annotation: Annotation,
  change: Record<string, unknown>,
): Annotation {
  const content = { ...annotation.content, ...change };
  const sql = "UPDATE annotation SET content = ?, updated_at = ? WHERE id = ? RETURNING *";
  const row = database.get(annotationRowSchema, sql, JSON.stringify(content), timestamp(), annotation.id);
  if (row === null) throw new Error(`annotation ${annotation.id} is gone`);
  return row;
}

export function deleteAnnotation(database: Database, { id }: Annotation): void {
  database.run("DELETE FROM annotation WHERE id = ?", id);
}
