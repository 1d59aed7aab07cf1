import type { Database } from "@towpath/db";
import { repository, repositoryBundles } from "@towpath/db/schema";
import { and, eq, isNotNull, sql } from "drizzle-orm";
import { z } from "zod";

/** Full names of refs → object ids. */
export type Refs = Readonly<Record<string, string>>;

/** A version of a repository. */
export type BundledState = {
  /** Incremented by each change. */
  readonly generation: number;
  /** The branch that HEAD names. */
  readonly head: string;
  readonly refs: Refs;
  /**
   * Digests of artifacts. Each bundle holds the objects that were new when it was made; together, in this order, they
   * are the repository.
   */
  readonly bundles: readonly string[];
};

const refsSchema = z.record(z.string(), z.string());

/** The rows that name stored bundles. A bundle in no row doesn't count. */
export function bundledStates(db: Database) {
  const of = (id: string) => eq(repositoryBundles.repositoryId, id);
  return {
    async find(id: string): Promise<BundledState | null> {
      const [row] = await db.select().from(repositoryBundles).where(of(id));
      if (!row) return null;
      const { generation, head, bundles } = row;
      return { generation, head, bundles, refs: refsSchema.parse(row.refs) };
    },
    /** Makes an empty one unless it exists, or commits were pushed: those are stored elsewhere then. */
    async begin(id: string, head: string): Promise<void> {
      await db.execute(sql`INSERT INTO ${repositoryBundles} (repository_id, head)
        SELECT id, ${head} FROM ${repository} WHERE id = ${id}::uuid AND pushed_at IS NULL ON CONFLICT DO NOTHING`);
    },
    /** Makes one with commits unless one exists that has commits. */
    async beginWith(id: string, { head, refs, bundles }: Omit<BundledState, "generation">): Promise<void> {
      const values = { head, refs, bundles: [...bundles], generation: 1 };
      await db
        .insert(repositoryBundles)
        .values({ repositoryId: id, ...values })
        .onConflictDoUpdate({
          target: repositoryBundles.repositoryId,
          set: values,
          setWhere: eq(repositoryBundles.generation, 0),
        });
    },
    isKnown: async (id: string): Promise<boolean> => (await db.$count(repository, eq(repository.id, id))) > 0,
    wasPushedTo: async (id: string): Promise<boolean> =>
      (await db.$count(repository, and(eq(repository.id, id), isNotNull(repository.pushedAt)))) > 0,
    /** Replaces the state if its generation is still current; otherwise false. */
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
