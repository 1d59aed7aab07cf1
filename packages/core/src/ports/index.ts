import type { Transaction } from "@towpath/db";
import type { Manifest, ServerIcon } from "@towpath/mcp/manifest";
import { z } from "zod";
import type { SignInProblem } from "../calling/oauth/sign-in-step.schema.ts";
import type { RegistryEntry } from "../sources/server-registry/server-json.schema.ts";

/** Jobs of the queue. Delivery is at least once, so every handler must be idempotent. */
export const jobPayloadSchemas = {
  /** Process a stored webhook delivery whose signature was checked. */
  "webhook.process": z.object({ deliveryId: z.string() }),
  /** GitHub reported a change of a branch: request its current state and apply it. */
  "branch.sync": z.object({ projectId: z.uuid(), branch: z.string() }),
  /** GitHub reported a change of an installation: request its current state and apply it. */
  "installation.sync": z.object({ installationId: z.number().int() }),
  /** Ask a Git URL, or a repository of this instance, which branches have changed. */
  "source.check": z.object({ projectId: z.uuid() }),
  /** Tell GitHub how a branch and its builds are. */
  "branch.report": z.object({ branchId: z.uuid() }),
  /** Report to a repository of GitHub that a server has left it. Numbers are Towpath's (decision 054), ids GitHub's. */
  "repository.leave": z.object({
    organizationId: z.uuid(),
    /** Of the server. */
    name: z.string(),
    installationId: z.number().int(),
    repositoryId: z.number().int(),
    /** owner/name */
    fullName: z.string(),
    deployments: z.array(z.number().int()),
    /** Check runs that haven't ended; without an id, commit statuses. */
    checks: z.array(z.object({ id: z.number().int().nullable(), sha: z.string(), externalId: z.string() })),
    pullRequests: z.array(z.number().int()),
  }),
  /** Replay production's sampled calls on a preview. */
  "calls.replay": z.object({ replayId: z.uuid() }),
  /** An organization's turn: run its oldest queued build. */
  "build.run": z.object({ organizationId: z.uuid() }),
  /** Send a message that waits in `mail_message`. */
  "mail.send": z.object({ mailId: z.uuid() }),
};

export type JobName = keyof typeof jobPayloadSchemas;
export type JobPayloads = { readonly [Name in JobName]: Readonly<z.infer<(typeof jobPayloadSchemas)[Name]>> };

type EnqueueOptions = {
  /** Only one job of a key waits for its first run or a retry: enqueuing another one does nothing. */
  readonly key: string;
  /** A worker can limit how many jobs of one group it runs at a time. */
  readonly group?: string;
  /** The job is enqueued only if and when this transaction commits. */
  readonly transaction?: Transaction;
  /** Not before then. */
  readonly startAfter?: Date;
};

/** Enqueues jobs; pg-boss in production. */
export type JobQueue = {
  enqueue<Name extends JobName>(name: Name, payload: JobPayloads[Name], options: EnqueueOptions): Promise<void>;
};

/** A version of a package that can be installed. */
export type Release = {
  readonly version: string;
  readonly isPrerelease: boolean;
  /** What its files say, such as `>=3.10`; null when they say nothing. */
  readonly requiresPython: string | null;
  /** When the first of its files was uploaded; null when the index doesn't say (PEP 700). */
  readonly uploadedAt: Date | null;
};

export type PackageReleases = {
  /** As the index writes it. */
  readonly name: string;
  /** Newest first. Without versions that were yanked, or of which there is no file. */
  readonly releases: readonly Release[];
};

/** The package indexes of this instance, asked in uv's order. */
export type PackageIndex = {
  /**
   * @param name normalized: PEP 503
   * @throws TowpathError `not_found`, `upstream_unavailable`
   */
  releases(name: string, signal?: AbortSignal): Promise<PackageReleases>;
};

/** The registry in which people find servers, such as the official one of MCP. */
export type ServerRegistry = {
  /** For people. */
  readonly host: string;
  /**
   * Latest versions of servers whose name contains the text, a page of them.
   * @throws TowpathError `upstream_unavailable`
   */
  search(text: string): Promise<readonly RegistryEntry[]>;
};

/** An email message to one person. Texts are plain; the mail has them as text and as simple HTML. */
export type Mail = {
  readonly purpose: "invitation" | "password-reset" | "email-change" | "alert";
  /** One address. */
  readonly to: string;
  /** `user:<id>` who has us write to somebody else, to whom limits apply; null for what people ask for themselves. */
  readonly sender: string | null;
  readonly subject: string;
  readonly paragraphs: readonly string[];
  /** A button in the HTML, an address in the text. */
  readonly action?: { readonly label: string; readonly url: string };
  /** Why the person gets it, and what to do when it isn't for them. */
  readonly footnote?: string;
};

/**
 * What a receiver of webhooks answered: `text` is the beginning of its body. `message` of a problem says what to do to
 * whoever named the address.
 */
export type WebhookAnswer =
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly text: string;
      readonly retryAfterSeconds: number | null;
    }
  | { readonly kind: "problem"; readonly message: string };

/** Posts to addresses that people name, and to none that is the platform's alone. */
export type WebhookPoster = {
  /** What is wrong with an address, as far as its text says; null: nothing. */
  problemOf(url: string): string | null;
  /** JSON. Ends after ten seconds, and never rejects. */
  post(request: {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  }): Promise<WebhookAnswer>;
};

export type MailSender = {
  /**
   * Queues a message, which a worker sends; in the transaction of what it is about, if there is one. Its row in
   * `mail_message` has the result.
   *
   * @throws TowpathError `limit_reached`: too many to this address, or from this sender
   */
  send(mail: Mail, transaction?: Transaction): Promise<{ readonly id: string }>;
};

/** An MCP server elsewhere, and the header that it asks for; `name` in lower case. */
export type InspectionTarget = {
  readonly url: string;
  readonly credential: { readonly name: string; readonly value: string } | null;
};

/** `message` says to whoever named the server what happened and what to do. */
type InspectionProblem = { readonly code: string; readonly message: string };

export type Inspection =
  | { readonly ok: true; readonly manifest: Manifest; readonly icons: readonly ServerIcon[] }
  | { readonly ok: false; readonly problem: InspectionProblem };

/** Reaches servers that tenants name, and no address that is the platform's alone. */
export type ExternalServers = {
  /** Whether anything answers at a URL; null: it does. */
  reach(url: string): Promise<InspectionProblem | null>;
  /** A handshake with all lists; takes up to half a minute. */
  inspect(target: InspectionTarget): Promise<Inspection>;
  /** A small file that a server names. Rejects with an Error whose message is for the server's owner. */
  file(url: string, maxBytes: number): Promise<Buffer>;
};

/** Looks up DNS records. Rejects without an answer; a name without such records has none. */
export type DomainNames = {
  /** Texts of its TXT records. */
  texts(name: string): Promise<readonly string[]>;
  /** The name that its CNAME record leads to. */
  alias(name: string): Promise<string | null>;
  /** IPv4 and IPv6 addresses. */
  addresses(name: string): Promise<readonly string[]>;
};

/** Runs the servers of deployments. */
export type ServerHost = {
  /**
   * Starts or wakes a deployment's server unless it is awake. Resolves when it has answered at /mcp; it then stays awake
   * for some seconds.
   *
   * @throws TowpathError `conflict` when it doesn't start or answer, `upstream_unavailable` when it can't be started now,
   *   `not_found`
   */
  verify(deploymentId: string): Promise<void>;
};

export type { EditedRepository, FileChange, FileChanges, FoundLine, GitFiles, OpenedFiles } from "./git-files.ts";
export type { GitHubFiles, NewPullRequest } from "./github-files.ts";
export type { GitHubTarget, NewTarget, TargetMade, TargetRepository } from "./github-target.ts";
export {
  addressOf,
  type BranchAtSource,
  type BranchQuestion,
  type ForkAtGitHub,
  gitHubNotConfigured,
  type HeadsAtHost,
  type InstallationAtGitHub,
  type PullRequestAtGitHub,
  type RepositoryAddress,
  type RepositoryHost,
} from "./repository-host.ts";
export {
  type CommitFiles,
  type GitCheckout,
  type GitCommitRef,
  type GitCredential,
  type GitHeads,
  type GitReader,
  type GitRefs,
  type GitRemote,
  type GitRemotes,
  type InstanceRepositories,
  mayNeedSignIn,
  type SizedBytes,
  type SourceWarning,
  unknownHost,
} from "./source.ts";

export type Clock = { now(): Date };
export const systemClock: Clock = { now: () => new Date() };

/** What an identity assertion (ID-JAG) says of a person, client and server. Times in milliseconds since 1970. */
export type AssertionClaims = {
  readonly issuer: string;
  readonly subject: string;
  readonly audiences: readonly string[];
  readonly clientId: string;
  readonly resources: readonly string[];
  /** Null: it limits none. */
  readonly scopes: readonly string[] | null;
  readonly id: string;
  readonly kid: string;
  readonly issuedAt: number;
  readonly notBefore: number;
  readonly expiresAt: number;
  /** Null without one that the issuer has verified. */
  readonly verifiedEmail: string | null;
};

/** Why one is refused, as its own content shows. `detail`: the wrong member. `description`: for the client. */
type AssertionProblem = {
  readonly problem: Extract<
    SignInProblem,
    | "assertion_invalid"
    | "assertion_for_other_issuer"
    | "assertion_for_other_client"
    | "assertion_for_other_server"
    | "assertion_scope_missing"
    | "assertion_expired"
    | "assertion_early"
  >;
  readonly detail: string;
  readonly description: string;
  readonly resources?: readonly string[];
};

/** Identity assertions of identity providers. Errors' messages are public. */
export type Assertions = {
  /** Without checking the signature. */
  readonly read: (assertion: string) => AssertionClaims | AssertionProblem;
  /** Null: nothing in it speaks against its use here and now. `resource`: the server that the client names; null: none. */
  readonly problemOf: (
    claims: AssertionClaims,
    expected: {
      readonly issuer: string;
      readonly clientId: string;
      readonly resource: string | null;
      readonly scope: string;
      readonly now: number;
    },
  ) => AssertionProblem | null;
  /** Whether its issuer signed it. Rejects when the issuer's keys can't be read. */
  readonly isSigned: (assertion: string, claims: AssertionClaims) => Promise<boolean>;
  /** `account.provider_id` of people who sign in by an issuer. */
  readonly providerOf: (issuer: string) => string;
  /** Reads an issuer's keys by its metadata. Rejects with the reason. */
  readonly readKeys: (issuer: string) => Promise<void>;
};

/** Where the keys of an issuer are: see the table `workload_identity`. */
export type IssuerKeySource = {
  readonly issuer: string;
  readonly jwksUrl: string | null;
  readonly keySet: string | null;
  readonly ca: string | null;
};
