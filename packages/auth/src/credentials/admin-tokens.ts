import { LRUCache } from "lru-cache";
import { signAdminJwt } from "./project-jwt.ts";
import type { SigningKeys } from "./signing-keys.ts";

/** A cached token is reused only if it remains valid for this long, so that its holder can use it. */
const minLifeMs = 5 * 60_000;
const maxProjects = 1000;

type Holder = { readonly projectId: string; readonly userId: string | null; readonly generation: number };

type AdminToken = {
  readonly token: string;
  readonly expiresAt: Date;
  /** Whether it was signed for an earlier request. */
  readonly isCached: boolean;
};

/** Since the process started, or since the project's tokens were revoked. `size`: tokens ready for reuse. */
export type AdminTokenStats = { readonly hits: number; readonly misses: number; readonly size: number };

/**
 * Issues admin JWTs (PRJ-10), the same one to the same user until it nears its end: repeated requests cost no signature
 * and leave fewer valid tokens in circulation. Cached in this process only. Each generation of a project has separate
 * tokens, so that no process issues a revoked one.
 */
export type AdminTokens = {
  /** @throws when the database is unavailable and no signing key has been read yet */
  issue(holder: Holder): Promise<AdminToken>;
  stats(project: Omit<Holder, "userId">): AdminTokenStats;
};

type Issued = { readonly token: string; readonly expiresAt: Date };
type ProjectTokens = {
  readonly generation: number;
  readonly byUser: Map<string | null, Issued>;
  hits: number;
  misses: number;
};

export function createAdminTokens(keys: SigningKeys, now: () => number = Date.now): AdminTokens {
  const projects = new LRUCache<string, ProjectTokens>({ max: maxProjects });

  const tokensOf = ({ projectId, generation }: Omit<Holder, "userId">): ProjectTokens => {
    const known = projects.get(projectId);
    // A row from before a revocation may arrive after it: the newer generation stays.
    if (known && known.generation >= generation) return known;
    const fresh = { generation, byUser: new Map(), hits: 0, misses: 0 };
    projects.set(projectId, fresh);
    return fresh;
  };
  const isFresh = ({ expiresAt }: Issued) => expiresAt.getTime() - now() >= minLifeMs;

  return {
    async issue(holder) {
      const tokens = tokensOf(holder);
      const known = tokens.generation === holder.generation ? tokens.byUser.get(holder.userId) : undefined;
      if (known && isFresh(known)) {
        tokens.hits++;
        return { ...known, isCached: true };
      }
      tokens.misses++;
      const issued = await signAdminJwt(keys, holder);
      if (tokens.generation === holder.generation) tokens.byUser.set(holder.userId, issued);
      return { ...issued, isCached: false };
    },
    stats(project) {
      const { byUser, hits, misses } = tokensOf(project);
      for (const [userId, issued] of byUser) if (!isFresh(issued)) byUser.delete(userId);
      return { hits, misses, size: byUser.size };
    },
  };
}
