import type { AdminTokens } from "@towpath/auth/credentials";
import type { Database } from "@towpath/db";
import type { CallLimits } from "@towpath/limits";
import type { SecretBox } from "@towpath/secrets";
import type { SignInStep } from "../oauth/sign-in-step.schema.ts";
import type {
  Clock,
  ExternalServers,
  GitHubTarget,
  GitRemotes,
  InstanceRepositories,
  JobQueue,
  MailSender,
  PackageIndex,
  RepositoryHost,
  ServerHost,
  ServerRegistry,
} from "../ports/index.ts";

export const roles = ["owner", "admin", "member", "viewer"] as const;
export type Role = (typeof roles)[number];

/** Who acts. Use `authorize` to check what an actor may do, never this value itself. */
export type Actor =
  | { readonly kind: "user"; readonly userId: string; readonly ipAddress: string | null }
  /** The holder of the instance's operator token, who has the role owner in every organization. */
  | { readonly kind: "operator"; readonly ipAddress: string | null }
  /**
   * The holder of an API key that may manage servers. `userId`: the person as whom a personal key acts; null for a key
   * of the organization. `projectIds`: the only servers that it may manage; null: all of the organization.
   */
  | {
      readonly kind: "apiKey";
      readonly keyId: string;
      readonly organizationId: string;
      readonly userId: string | null;
      readonly projectIds: readonly string[] | null;
      readonly ipAddress: string | null;
    }
  /** A job of the platform itself. */
  | { readonly kind: "job"; readonly job: string };

/** What verbs use. Create one per request or job. */
export type Context = {
  readonly db: Database;
  readonly actor: Actor;
  readonly queue: JobQueue;
  readonly clock: Clock;
  /** `https://host/{name}` or `https://{name}.host`: see `serverUrl`. */
  readonly serverUrlTemplate: string;
  /** Null on an instance without a GitHub App; absent in processes that don't deploy. */
  readonly repositories?: RepositoryHost | null;
  /** Makes repositories at GitHub; absent in processes that don't. */
  readonly gitHubTarget?: GitHubTarget | null;
  /** Reads repositories behind Git URLs; absent in processes that don't. */
  readonly gitRemotes?: GitRemotes;
  /** Stores repositories of this instance; absent in processes that don't reach the data directory. */
  readonly instanceRepositories?: InstanceRepositories;
  /** Absent in processes that deploy no packages. */
  readonly packages?: PackageIndex;
  /** Null where the operator switched it off; absent in processes in which nobody searches. */
  readonly serverRegistry?: ServerRegistry | null;
  /** Without it, verbs that use secrets throw `not_configured`. */
  readonly secrets?: SecretBox;
  /**
   * Fetches a JSON document that somebody else named, without reaching private addresses; its errors' messages are
   * public. Absent in processes that serve no OAuth clients.
   */
  readonly fetchDocument?: (url: string) => Promise<unknown>;
  /** Absent in processes that don't reach servers elsewhere: then verbs that need it throw `not_configured`. */
  readonly externalServers?: ExternalServers;
  /** Null without a way to the runner; absent in processes that make no deployment live for people. */
  readonly serverHost?: ServerHost | null;
  /** Absent in processes that issue no tokens: then verbs that need it throw `not_configured`. */
  readonly adminTokens?: AdminTokens;
  /** The dashboard's origin, for links in messages. Absent in processes that invite nobody. */
  readonly dashboardUrl?: string;
  /** Null on an instance without a mail server: then pages show links to copy. Absent in processes that invite nobody. */
  readonly mail?: MailSender | null;
  /** How many calls the instance's gateways take. Absent in processes that don't show it. */
  readonly callLimits?: CallLimits;
  /** Notes a step of an MCP client's sign-in, without waiting; absent in processes that serve no OAuth clients. */
  readonly recordSignInStep?: (step: SignInStep) => void;
};
