import type { Database } from "@towpath/db";
import { repository, repositoryBundles } from "@towpath/db/schema";
import { and, eq, sql } from "drizzle-orm";
import { z } from "zod";

/** Full names of refs → what they name. */
export type Refs = Readonly<Record<string, string>>;

/** What a repository is, at one moment. */
export type BundledState = {
  /** Incremented by each change. */
  readonly generation: number;
  /** The branch that HEAD names. */
  readonly head: string;
  readonly refs: Refs;
  /**
   * Digests of artifacts. Each bundle has what the refs of its time lead to and those of the time of the one before it
   * don't, so that all of them together, in this order, are the repository.
   */
  readonly bundles: readonly string[];
};

/** The rows that say what is stored. A bundle that none of them names counts for nothing. */
export type BundledStates = ReturnType<typeof bundledStates>;

const refsSchema = z.record(z.string(), z.string());

export function bundledStates(db: Database) {
  const of = (id: string) => eq(repositoryBundles.repositoryId, id);
  return {
    async find(id: string): Promise<BundledState | null> {
      const [row] = await db.select().from(repositoryBundles).where(of(id));
      if (!row) return null;
      const { generation, head, bundles } = row;
      return { generation, head, bundles, refs: refsSchema.parse(row.refs) };
    },
    /**
     * Makes an empty one unless it is there. One that commits were pushed to before is not empty: it is made only by who
     * brings them (`isFilled`).
     */
    async begin(id: string, head: string, { isFilled = false } = {}): Promise<void> {
      await db.execute(sql`INSERT INTO ${repositoryBundles} (repository_id, head)
        SELECT id, ${head} FROM ${repository} WHERE id = ${id}::uuid AND (pushed_at IS NULL OR ${isFilled}::boolean)
        ON CONFLICT DO NOTHING`);
    },
    isKnown: async (id: string): Promise<boolean> => (await db.$count(repository, eq(repository.id, id))) > 0,
    /** Replaces the state of this generation; false if there is another meanwhile, or none. */
    async replace({ generation }: BundledState, id: string, next: Omit<BundledState, "generation">): Promise<boolean> {
      const rows = await db
        .update(repositoryBundles)
        .set({ ...next, bundles: [...next.bundles], generation: generation + 1, updatedAt: new Date() })
        .where(and(of(id), eq(repositoryBundles.generation, generation)))
        .returning({ id: repositoryBundles.repositoryId });
      return rows.length > 0;
    },
    remove: async (id: string): Promise<void> => void (await db.delete(repositoryBundles).where(of(id))),
    async list(): Promise<readonly string[]> {
      const rows = await db.select({ id: repositoryBundles.repositoryId }).from(repositoryBundles);
      return rows.map(({ id }) => id);
    },
  };
}
