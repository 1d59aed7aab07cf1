import type { Database } from "@towpath/db";
import type { Clock, JobQueue, RepositoryHost } from "../ports/index.ts";
import type { SecretBox } from "../secret-box/index.ts";

export const roles = ["owner", "admin", "member", "viewer"] as const;
export type Role = (typeof roles)[number];

/** Who acts. What an actor may do is asked of `authorize`, never of this value directly. */
export type Actor =
  | { readonly kind: "user"; readonly userId: string; readonly ipAddress: string | null }
  /** Holder of the instance's operator token: may do everything an owner may, in every organization. */
  | { readonly kind: "operator"; readonly ipAddress: string | null }
  /** The platform itself, named by the job that acts. */
  | { readonly kind: "job"; readonly job: string };

/** What a verb may use. Each surface makes one per request or job. */
export type Context = {
  readonly db: Database;
  readonly actor: Actor;
  readonly queue: JobQueue;
  readonly clock: Clock;
  /** `https://host/{name}` or `https://{name}.host`: see `serverUrl`. */
  readonly serverUrlTemplate: string;
  /** Null on an instance without a GitHub App and without the local forge; left out in processes that deploy nothing. */
  readonly repositories?: RepositoryHost | null;
  /** `createSecretBox(TOWPATH_SECRET)`; verbs that touch secrets answer `not_configured` without it. */
  readonly secrets?: SecretBox;
};
