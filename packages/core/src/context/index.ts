import type { AdminTokens } from "@towpath/auth/credentials";
import type { Database } from "@towpath/db";
import type { project } from "@towpath/db/schema";
import type { CallLimits } from "@towpath/limits";
import type { SecretBox } from "@towpath/secrets";
import type { SignInStep } from "../calling/oauth/sign-in-step.schema.ts";
import type {
  Assertions,
  Clock,
  DomainNames,
  ExternalServers,
  GitFiles,
  GitHubFiles,
  GitHubTarget,
  GitRemotes,
  InstanceRepositories,
  IssuerKeySource,
  JobQueue,
  MailSender,
  PackageIndex,
  RepositoryHost,
  ServerHost,
  ServerRegistry,
  WebhookPoster,
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

export type OrganizationAccess = {
  readonly organization: { readonly id: string; readonly slug: string; readonly name: string };
  readonly role: Role;
};

export type ProjectAccess = OrganizationAccess & { readonly project: typeof project.$inferSelect };

/**
 * What a verb gets. Create one per request or job. `Service`: what the verb uses in addition to what all have, so that a
 * process which lacks it doesn't compile.
 */
export type Context<Service extends keyof Services = never> = Pick<Services, Service> & {
  readonly db: Database;
  readonly actor: Actor;
  readonly queue: JobQueue;
  readonly clock: Clock;
  /** `https://host/{name}` or `https://{name}.host`: see `serverUrl`. */
  readonly serverUrlTemplate: string;
  /** The dashboard's origin, for links. */
  readonly dashboardUrl: string;
  /** What `actor` was found to have access to earlier in this request: see `withAccess`. */
  readonly checked?: { readonly actor: Actor; readonly access: OrganizationAccess | ProjectAccess };
};

/** What only some verbs use. Where null is allowed, the operator can leave it out. */
type Services = {
  /** Of GitHub. */
  readonly repositories: RepositoryHost;
  /** Makes repositories at GitHub. */
  readonly gitHubTarget: GitHubTarget;
  /** Reads repositories behind Git URLs. */
  readonly gitRemotes: GitRemotes;
  /** Reads and changes files of repositories for people. */
  readonly gitFiles: GitFiles;
  /** The same at GitHub. */
  readonly gitHubFiles: GitHubFiles;
  /** Stores repositories of this instance. */
  readonly instanceRepositories: InstanceRepositories;
  readonly packages: PackageIndex;
  readonly serverRegistry: ServerRegistry | null;
  readonly secrets: SecretBox;
  /**
   * Fetches a JSON document that somebody else named, without reaching private addresses; its errors' messages are
   * public.
   */
  readonly fetchDocument: (url: string) => Promise<unknown>;
  readonly externalServers: ExternalServers;
  /** Reads the keys of an issuer of workloads' tokens. Rejects with an Error whose message is public. */
  readonly readIssuerKeys: (source: IssuerKeySource) => Promise<unknown>;
  /** Identity assertions of organizations' identity providers. */
  readonly assertions: Assertions;
  readonly domainNames: DomainNames;
  /** Null without a way to the runner. */
  readonly serverHost: ServerHost | null;
  readonly adminTokens: AdminTokens;
  /** Null without a mail server: then pages show links to copy. */
  readonly mail: MailSender | null;
  readonly webhooks: WebhookPoster;
  /** How many calls the instance's gateways take. */
  readonly callLimits: CallLimits;
  /** Records a step of an MCP client's sign-in, without waiting. */
  readonly recordSignInStep: (step: SignInStep) => void;
};

/** For repositories behind Git URLs and those of this instance. */
export type GitServices = "gitRemotes" | "instanceRepositories" | "secrets";
/** The same, and GitHub's. */
export type SourceServices = GitServices | "repositories";
/** For a process that serves all verbs. */
export type FullContext = Context<keyof Services>;

/** The parameter of a verb: in what context, and what for. */
export type Call<Input, Service extends keyof Services = never> = {
  readonly ctx: Context<Service>;
  readonly input: Input;
};
