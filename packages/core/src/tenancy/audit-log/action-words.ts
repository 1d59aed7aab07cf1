import { shortCommit } from "../../delivery/build/version.schema.ts";
import type { AuditGroup } from "./audit-log.schema.ts";

type Entry = {
  readonly subject: string | null;
  readonly detail: Readonly<Record<string, unknown>>;
};
type Words = readonly [group: AuditGroup, text: (entry: Entry) => string];

/** Names go with a deleted server (see docs/retention.md): then there is a gap. */
const gap = "…";
const show = (value: unknown) => (typeof value === "string" || typeof value === "number" ? String(value) : gap);
const short = (value: unknown) => shortCommit(show(value));
/** Keys of an object, for what was changed. */
const keysOf = (value: unknown) => (typeof value === "object" && value !== null ? Object.keys(value) : []);
const fromTo = (value: unknown) => {
  const { from, to } = (value ?? {}) as { from?: unknown; to?: unknown };
  return `from ${show(from)} to ${show(to)}`;
};
const person = ({ detail }: Entry) => show(detail.name ?? detail.email);
/** What was built: a package's version or a commit. */
const built = (detail: Entry["detail"]) =>
  detail.version ? `version ${show(detail.version)}` : `commit ${short(detail.commit)}`;
const ofBranch = ({ detail }: Entry) => (detail.branch ? ` of ${show(detail.branch)}` : "");

/** Branches and tags, of which the entry names the first. */
const pushed = ({ refs, count }: Entry["detail"]) => {
  const named = Array.isArray(refs) ? refs.map(show) : [];
  const more = Number(count) - named.length;
  return `${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
};

const fork = (detail: Entry["detail"]) => (detail.repository ? `the fork ${show(detail.repository)}` : "a fork");

/** Why the platform read the variables of a build or deployment, which is the subject then. */
const decrypted = {
  build: "for a build",
  start: "to start the server",
  redaction: "to remove their values from logs and chats",
  export: "to export the server with their values",
} as const;
const isReason = (reason: unknown): reason is keyof typeof decrypted => Object.hasOwn(decrypted, String(reason));

const failure = ({ subject, detail }: Entry) => `the error “${show(detail.title)}” of ${show(subject)}`;

/** What each action did, as the end of a sentence that begins with who did it. */
const words: Readonly<Record<string, Words>> = {
  "organization.create": ["team", () => "created the organization"],
  "organization.claim": ["team", () => "became the owner of the organization"],
  "organization.delete": ["team", ({ subject }) => `deleted the organization ${show(subject)}`],
  "organization.update": [
    "team",
    ({ detail }) =>
      Object.entries(detail)
        .map(([key, change]) => `changed the organization's ${key === "slug" ? "address" : key} ${fromTo(change)}`)
        .join(" and "),
  ],
  "organization.picture": [
    "team",
    ({ detail }) =>
      detail.removed === true ? "removed the organization's picture" : "changed the organization's picture",
  ],
  "organization.status-page": [
    "team",
    ({ detail }) => (detail.isOn === true ? "showed the status page to everybody" : "took the status page down"),
  ],
  // In no organization's log.
  "account.update": ["people", () => "changed their name"],
  "account.picture": ["people", () => "changed their picture"],
  "account.preferences": ["people", () => "changed their preferences"],
  "member.changeRole": ["people", (entry) => `changed the role of ${person(entry)} ${fromTo(entry.detail)}`],
  "member.remove": ["people", (entry) => `removed ${person(entry)} from the organization`],
  "member.leave": ["people", () => "left the organization"],
  "invitation.create": ["people", ({ detail }) => `invited ${show(detail.email)} as ${show(detail.role)}`],
  "invitation.resend": ["people", ({ detail }) => `sent the invitation of ${show(detail.email)} again`],
  "invitation.createLink": ["people", ({ detail }) => `copied an invitation link for ${show(detail.email)}`],
  "invitation.revoke": ["people", ({ detail }) => `revoked the invitation of ${show(detail.email)}`],
  "invitation.accept": ["people", ({ detail }) => `joined the organization as ${show(detail.role)}`],
  "project.create": ["servers", ({ subject }) => `created the server ${show(subject)}`],
  "project.update": [
    "servers",
    ({ subject, detail: { name, ...others } }) => {
      const changed = keysOf(others);
      const settings = `changed ${changed.join(", ") || "settings"} of ${show(subject)}`;
      if (!name) return settings;
      const { from, to } = name as { from?: unknown; to?: unknown };
      const renamed = `renamed the server ${show(from)} to ${show(to)}`;
      return changed.length === 0 ? renamed : `${renamed} and ${settings}`;
    },
  ],
  "project.release-name": ["servers", ({ detail }) => `released the former name ${show(detail.name)}`],
  "domain.add": [
    "servers",
    ({ subject, detail }) => `asked for the domain ${show(detail.domain)} for ${show(subject)}`,
  ],
  "domain.activate": [
    "servers",
    ({ subject, detail }) => `connected the domain ${show(detail.domain)} to ${show(subject)}`,
  ],
  "domain.end": [
    "servers",
    ({ subject, detail }) =>
      `disconnected the domain ${show(detail.domain)} from ${show(subject)}, whose DNS record is gone`,
  ],
  "domain.remove": [
    "servers",
    ({ subject, detail }) => `removed the domain ${show(detail.domain)} from ${show(subject)}`,
  ],
  "error.resolve": ["servers", (entry) => `resolved ${failure(entry)}`],
  "error.ignore": ["servers", (entry) => `ignored ${failure(entry)}`],
  "error.reopen": ["servers", (entry) => `reopened ${failure(entry)}`],
  "project.delete": ["servers", ({ subject }) => `deleted the server ${show(subject)}`],
  "project.export": ["servers", ({ subject, detail }) => `exported ${built(detail)} of the server ${show(subject)}`],
  "project.follow-default-branch": [
    "servers",
    ({ detail }) => `moved production ${fromTo(detail)}, as the repository did`,
  ],
  "source.update": ["servers", ({ subject }) => `changed how ${show(subject)} follows its repository`],
  "source.change": ["servers", ({ subject, detail }) => `changed the source of ${show(subject)} ${fromTo(detail)}`],
  "source.move": [
    "servers",
    ({ subject, detail }) => `noticed that the repository of ${show(subject)} moved ${fromTo(detail)}`,
  ],
  "source.makeWebhookSecret": [
    "servers",
    ({ subject }) => `made a webhook secret for the repository of ${show(subject)}`,
  ],
  "source.removeWebhookSecret": ["servers", ({ subject }) => `removed the webhook secret of ${show(subject)}`],
  "source.commit": [
    "builds",
    ({ subject, detail }) => `committed ${show(detail.sha)} to ${show(detail.branch)} for ${show(subject)}`,
  ],
  "source.decrypt": ["servers", () => "used the credential of a Git repository"],
  "repository.create": ["servers", ({ subject }) => `made the repository ${show(subject)}`],
  "repository.push": ["builds", ({ subject, detail }) => `pushed ${pushed(detail)} to the repository ${show(subject)}`],
  "repository.target": [
    "servers",
    ({ subject, detail }) => `chose ${show(detail.to)} on GitHub for the repository ${show(subject)} to continue as`,
  ],
  "repository.continue": [
    "servers",
    ({ subject, detail }) => `moved the repository ${show(subject)} to GitHub as ${show(detail.to)}`,
  ],
  "repository.delete": ["servers", ({ subject }) => `deleted the repository ${show(subject)}`],
  "branch.end": ["builds", ({ subject }) => `ended the preview of ${show(subject)}`],
  "build.start": [
    "builds",
    (entry) =>
      entry.detail.package
        ? `started a build of ${show(entry.detail.package)} ${show(entry.detail.version)}`
        : `started a build of commit ${short(entry.detail.commit)}${ofBranch(entry)}`,
  ],
  "fork.wait": [
    "builds",
    ({ detail }) => `held commit ${short(detail.commit)} of ${fork(detail)} until a member approves it`,
  ],
  "fork.approve": ["builds", ({ detail }) => `approved commit ${short(detail.commit)} of ${fork(detail)}`],
  "fork.decline": ["builds", ({ detail }) => `declined commit ${short(detail.commit)} of ${fork(detail)}`],
  "build.skip": [
    "builds",
    (entry) => `didn't build commit ${short(entry.detail.commit)}${ofBranch(entry)}: it changes no watched path`,
  ],
  "build.redeploy": ["builds", ({ detail }) => `rebuilt ${built(detail)}`],
  "build.cancel": ["builds", ({ detail }) => `canceled the build of ${built(detail)}`],
  "build.rebuild": ["builds", ({ detail }) => `rebuilt ${built(detail)}: its files were lost`],
  "deployment.go-live": [
    "builds",
    (entry) =>
      `put ${built(entry.detail)}${entry.detail.version ? "" : ofBranch(entry)} live as ${show(entry.detail.label)}`,
  ],
  "build.promote": ["builds", ({ detail }) => `promoted ${built(detail)} to production`],
  "deployment.make-live": ["builds", ({ detail }) => `made ${built(detail)} live again`],
  "deployment.wait": ["builds", ({ detail }) => `let ${built(detail)} wait for an approval`],
  "deployment.approve": ["builds", ({ detail }) => `approved ${built(detail)} for production`],
  "deployment.reject": ["builds", ({ detail }) => `rejected ${built(detail)} for production`],
  "replay.start": ["builds", ({ detail }) => `replayed calls of production on ${built(detail)}`],
  "release.start": ["builds", ({ detail }) => `began to release ${built(detail)} gradually`],
  "release.step": ["builds", ({ detail }) => `gave ${built(detail)} ${show(detail.share)} % of new sessions`],
  "release.finish": ["builds", ({ detail }) => `finished the release of ${built(detail)}`],
  "release.go-back": ["builds", ({ detail }) => `went back from ${built(detail)}: ${show(detail.reason)}`],
  "release.stop": ["builds", ({ detail }) => `stopped the release of ${built(detail)}: ${show(detail.reason)}`],
  "releasePolicy.update": ["servers", ({ subject }) => `changed how ${show(subject)} is released`],
  "externalServer.create": ["servers", ({ subject }) => `added the external server ${show(subject)}`],
  "externalServer.update": ["servers", ({ subject }) => `changed the external server ${show(subject)}`],
  "externalServer.decrypt": ["servers", () => "used the credential of an external server"],
  "portal.create": ["servers", ({ subject }) => `created the portal ${show(subject)}`],
  "portal.update": ["servers", ({ subject }) => `changed the portal ${show(subject)}`],
  "callerValue.set": ["variables", ({ subject }) => `set their own value of ${show(subject)}`],
  "callerValue.delete": ["variables", ({ subject }) => `deleted their own value of ${show(subject)}`],
  "secret.create": ["variables", ({ subject }) => `created the variable ${show(subject)}`],
  "secret.update": ["variables", ({ subject }) => `changed the variable ${show(subject)}`],
  "secret.delete": ["variables", ({ subject }) => `deleted the variable ${show(subject)}`],
  "secret.decrypt": [
    "variables",
    ({ subject, detail: { reason } }) =>
      isReason(reason) ? `read the variables ${decrypted[reason]}` : `read the value of ${show(subject)}`,
  ],
  "view.share": ["servers", ({ detail }) => `shared the view ${show(detail.name)} with all members`],
  "view.update": ["servers", ({ detail }) => `changed the shared view ${show(detail.name)}`],
  "view.rename": ["servers", ({ detail }) => `renamed the shared view ${show(detail.from)} to ${show(detail.name)}`],
  "view.delete": ["servers", ({ detail }) => `deleted the shared view ${show(detail.name)}`],
  "access.update": ["access", ({ subject }) => `changed who may call ${show(subject)}`],
  "limit.update": ["access", ({ subject }) => `changed the call limits of ${show(subject)}`],
  "apiKey.create": [
    "keys",
    ({ detail }) =>
      `created the ${show(detail.kind)} API key ${show(detail.name)}${detail.scope === "manage" ? ", which manages servers" : ""}`,
  ],
  "apiKey.revoke": ["keys", ({ detail }) => `revoked the API key ${show(detail.name)}`],
  "workloadIdentity.create": [
    "keys",
    ({ detail }) => `let workloads of ${show(detail.issuer)} call servers: ${show(detail.name)}`,
  ],
  "workloadIdentity.revoke": ["keys", ({ detail }) => `revoked the workload identity ${show(detail.name)}`],
  "workloadIdentity.delete": ["keys", ({ detail }) => `deleted the workload identity ${show(detail.name)}`],
  "signInIssuer.create": [
    "keys",
    ({ detail }) => `let members in by assertions of ${show(detail.issuer)}: ${show(detail.name)}`,
  ],
  "signInIssuer.delete": ["keys", ({ detail }) => `removed the company sign-in ${show(detail.name)}`],
  "apiKey.delete": ["keys", ({ detail }) => `deleted the API key ${show(detail.name)}`],
  "alertChannel.create": [
    "alerts",
    ({ detail }) => `added the alert channel ${show(detail.name)}${detail.host ? ` to ${show(detail.host)}` : ""}`,
  ],
  "alertChannel.update": ["alerts", ({ detail }) => `changed the alert channel ${show(detail.name)}`],
  "alertChannel.rotate": ["alerts", ({ detail }) => `made a new secret for the alert channel ${show(detail.name)}`],
  "alertChannel.delete": ["alerts", ({ detail }) => `deleted the alert channel ${show(detail.name)}`],
  "alertChannel.gone": [
    "alerts",
    ({ detail }) => `switched off the alert channel ${show(detail.name)}, whose receiver answered 410`,
  ],
  "alertRule.update": ["alerts", ({ subject }) => `changed when calls of ${show(subject)} are slow`],
  "adminJwt.issue": ["keys", ({ subject }) => `obtained an admin JWT for ${show(subject)}`],
  "adminJwt.clearCache": ["keys", ({ subject }) => `revoked all admin JWTs of ${show(subject)}`],
  "oauth.grant": [
    "clients",
    ({ detail }) =>
      `connected ${show(detail.client)}${detail.consent === "company" ? ` by the company sign-in ${show(detail.issuer)}` : ""}`,
  ],
  "oauth.revoke": ["clients", () => "disconnected one of their apps"],
  "oauth.disconnect": ["clients", () => "disconnected a client for everyone"],
  "github.connect": [
    "github",
    ({ subject, detail }) =>
      `connected the GitHub App ${show(subject)} of ${show(detail.owner)} (${show(detail.host)})`,
  ],
  "github.rotate": ["github", ({ subject }) => `changed keys of the GitHub App ${show(subject)}`],
  "github.remove": [
    "github",
    ({ subject, detail }) => `removed the GitHub App ${show(subject)} (${show(detail.host)}) from this instance`,
  ],
  "installation.remove": [
    "github",
    ({ detail }) => `noticed that ${show(detail.accountLogin)} uninstalled the GitHub App`,
  ],
  "installation.suspend": [
    "github",
    ({ detail }) => `noticed that ${show(detail.accountLogin)} suspended the GitHub App`,
  ],
  "installation.resume": ["github", ({ detail }) => `noticed that ${show(detail.accountLogin)} resumed the GitHub App`],
  "installation.record": ["github", ({ detail }) => `connected the GitHub account ${show(detail.accountLogin)}`],
  "installation.disconnect": ["github", ({ detail }) => `disconnected the GitHub account ${show(detail.accountLogin)}`],
  "user.connect-github": ["github", () => "connected their GitHub account"],
};

/** The actions of a group. */
export const actionsOf = (group: AuditGroup): readonly string[] =>
  Object.entries(words).flatMap(([action, [of]]) => (of === group ? [action] : []));

/** Whether there are words for an action. */
export const isKnownAction = (action: string): boolean => words[action] !== undefined;

/** What was done, such as `removed Ada from the organization`. An action of another version is named as it is stored. */
export function describeAction(action: string, entry: { readonly subject: string | null; readonly detail: unknown }) {
  const known = words[action];
  if (!known) return { group: null, text: action };
  const [group, text] = known;
  const detail = (typeof entry.detail === "object" && entry.detail !== null ? entry.detail : {}) as Entry["detail"];
  return { group, text: text({ subject: entry.subject, detail }) };
}
