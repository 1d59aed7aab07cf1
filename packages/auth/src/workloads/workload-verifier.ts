import { compactVerify } from "jose";
import { LRUCache } from "lru-cache";
import { type IssuerKeyCache, keysFreshMs, nameOfSource } from "./issuer-key-cache.ts";
import { IssuerKeysError } from "./issuer-keys.ts";
import { problemOf, readTokenHead, type TokenHead, type WorkloadTokenProblem } from "./token-head.ts";
import { admits, type WorkloadChecker, type WorkloadIdentity } from "./workload-identity.ts";

/** A caller whose token was verified for one server. `expiresAt`: milliseconds since 1970. */
type Verified = { readonly identity: WorkloadIdentity; readonly subject: string; readonly expiresAt: number };

/**
 * Why a token was refused. Its sender may learn of a WorkloadTokenProblem, which its own content shows. All others would
 * reveal which servers exist and whom their organizations trust.
 */
export type WorkloadRefusal =
  | WorkloadTokenProblem
  /** No identity names the issuer, the signature is not by one of its keys, or these could not be read. */
  | "untrusted"
  | "keys_unreadable"
  /** The issuer signed it; `other_server`: for another server's callers. */
  | "subject_not_admitted"
  | "other_server";

export type WorkloadVerifier = {
  /** Null for a token that does not claim to be of another issuer. */
  headOf: (token: string) => TokenHead | "unsupported" | null;
  /**
   * Verifies a token for a server. `server`: null for one that does not exist, which no token opens.
   *
   * @throws when the database is unavailable and the identities were not confirmed recently
   */
  verify: (
    sent: { readonly token: string; readonly head: TokenHead | "unsupported"; readonly resource: string },
    server: { readonly organizationId: string; readonly projectId: string } | null,
  ) => Promise<Verified | WorkloadRefusal>;
};

const maxTokens = 5000;
/** The id of no organization. */
const nobody = "00000000-0000-0000-0000-000000000000";

/**
 * Verifies tokens of the issuers that a server's organization trusts (KEY-6): offline, with cached keys. A token's
 * signature is checked once in ten minutes, so that a key that its issuer has withdrawn ends with its tokens.
 */
export function createWorkloadVerifier(parts: {
  readonly workloads: WorkloadChecker;
  readonly keys: IssuerKeyCache;
  readonly ownIssuer: string;
}): WorkloadVerifier {
  /** Of accepted tokens: those of strangers take no memory. */
  const heads = new LRUCache<string, TokenHead>({ max: maxTokens });
  /** Tokens with the name of the source whose key signed them. */
  const signed = new LRUCache<string, true>({ max: maxTokens, ttl: keysFreshMs });

  async function isSigned(token: string, head: TokenHead, identity: WorkloadIdentity): Promise<boolean> {
    const name = `${nameOfSource(identity)} ${token}`;
    if (signed.has(name)) return true;
    const found = await parts.keys.find(identity, head.kid);
    if (!found) return false;
    try {
      await compactVerify(token, found.key, { algorithms: [found.algorithm] });
    } catch {
      return false;
    }
    signed.set(name, true);
    return true;
  }

  return {
    headOf: (token) => heads.get(token) ?? readTokenHead(token, parts.ownIssuer),
    async verify({ token, head, resource }, server) {
      if (head === "unsupported") return head;
      const problem = problemOf(head, resource, Date.now());
      if (problem !== null) return problem;
      const { issuer, subject, expiresAt } = head;
      // Also without a server, so that a slow or unavailable database doesn't tell which servers exist.
      const found = await parts.workloads.find({ organizationId: server?.organizationId ?? nobody, issuer });
      if (!server || !found) return "untrusted";
      const admitting = found.filter((each) => admits(each, { subject, projectId: server.projectId }));
      // Those that don't admit it only say why.
      const [first] = found;
      const asked = admitting.length > 0 ? admitting : first ? [first] : [];
      let refusal: WorkloadRefusal = "untrusted";
      for (const identity of asked) {
        try {
          if (!(await isSigned(token, head, identity))) continue;
        } catch (error) {
          if (!(error instanceof IssuerKeysError)) throw error;
          refusal = "keys_unreadable";
          continue;
        }
        if (admitting.length === 0) {
          const isElsewhere = found.some((each) => admits({ ...each, projectIds: null }, { subject, projectId: "" }));
          return isElsewhere ? "other_server" : "subject_not_admitted";
        }
        parts.workloads.used(identity.id);
        heads.set(token, head);
        return { identity, subject, expiresAt };
      }
      return refusal;
    },
  };
}
