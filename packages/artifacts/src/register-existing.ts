import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Database } from "@towpath/db";
import { artifact, artifactTag } from "@towpath/db/schema";
import { sql } from "drizzle-orm";
import { type BlobStore, digestSchema } from "./port.ts";

/**
 * Adds rows for stored bytes that have none: artifacts of releases that kept times of use and tags as files
 * (`tags/<name>` has a digest), and those newer than a restored database. They count as used now. May be repeated, also
 * by several processes at the same time.
 *
 * @param root the directory of artifacts in the data directory
 */
export async function registerExisting(db: Database, blobs: BlobStore, root: string): Promise<void> {
  const stored: string[] = [];
  for await (const digest of blobs.list()) stored.push(digest);
  await db.execute(
    sql`INSERT INTO ${artifact} (digest) SELECT unnest(${sql.param(stored)}::text[]) ON CONFLICT DO NOTHING`,
  );

  const names = await readdir(join(root, "tags")).catch(() => []);
  const tags: { name: string; digest: string }[] = [];
  for (const name of names.filter((each) => digestSchema.safeParse(each).success))
    tags.push({ name, digest: await readFile(join(root, "tags", name), "utf8").catch(() => "") });
  await db.execute(
    sql`INSERT INTO ${artifactTag} (name, digest)
        SELECT tag.name, tag.digest FROM jsonb_to_recordset(${JSON.stringify(tags)}::jsonb) AS tag(name text, digest text)
        WHERE EXISTS (SELECT FROM ${artifact} WHERE artifact.digest = tag.digest) ON CONFLICT DO NOTHING`,
  );
  for (const files of ["tags", "tagged"]) await rm(join(root, files), { recursive: true, force: true });
}
