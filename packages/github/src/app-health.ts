import { gitHubHostName } from "@towpath/core/sources/github-connection/schema";
import { missingEvents, missingPermissions } from "./app-needs.ts";
import type { GitHub } from "./contract.ts";
import { GitHubError } from "./errors.ts";
import type { GitHubDelivery } from "./github.schema.ts";
import { webhooksMayArrive } from "./webhooks-arrive.ts";

/** A problem of an App, and what to do. */
type AppProblem = {
  readonly kind: "unavailable" | "rejected" | "clock" | "permissions" | "events" | "webhooks";
  readonly title: string;
  readonly detail: string;
  /** GitHub's page to fix it; null: it isn't fixed there. */
  readonly url: string | null;
};

export type AppHealth = {
  /** The App's page for its owner; null while it can't be read. */
  readonly settingsUrl: string | null;
  readonly name: string | null;
  readonly problems: readonly AppProblem[];
  /** Facts that are no problems, such as webhooks that can't arrive. */
  readonly notes: readonly string[];
};

/** GitHub accepts tokens whose clock is off by about a minute. */
const maxSkewMs = 30_000;
/** Older failures don't count. */
const recentMs = 86_400_000;

type Asked = {
  readonly github: Pick<GitHub, "app" | "config" | "webhookDeliveries" | "webhookUrl">;
  /** The dashboard's. */
  readonly instanceUrl: string;
  /** Where this connection's webhooks should go. */
  readonly webhookPath: string;
  readonly now: Date;
};

/** Looks at an App as its host sees it: key, clock, permissions, events, webhooks (GH-5). Never throws `GitHubError`. */
export async function appHealth(asked: Asked): Promise<AppHealth> {
  const { github, now } = asked;
  const host = gitHubHostName(github.config.url);
  try {
    const app = await github.app();
    const settingsUrl = settingsUrlOf(github.config.url, app);
    const webhooks = await webhookProblems(asked, settingsUrl);
    const problems = [
      ...clockProblems(host, app.date, now),
      ...permissionProblems(host, app, settingsUrl),
      ...eventProblems(host, app, settingsUrl, webhooks.hasWebhook),
      ...webhooks.problems,
    ];
    return { settingsUrl, name: app.name, problems, notes: webhooks.notes };
  } catch (error) {
    if (!(error instanceof GitHubError)) throw error;
    return { settingsUrl: null, name: null, problems: refusals(host, error, now), notes: [] };
  }
}

type App = Awaited<ReturnType<GitHub["app"]>>;

function settingsUrlOf(url: string, { slug, owner }: App): string {
  const account = owner?.type === "Organization" ? `/organizations/${owner.login}` : "";
  return `${url}${account}/settings/apps/${slug}`;
}

function refusals(host: string, error: GitHubError, now: Date): readonly AppProblem[] {
  if (error.code !== "unauthorized" && error.code !== "not_found")
    return [{ kind: "unavailable", title: `${host} can't be asked`, detail: error.publicText, url: null }];
  const clock = clockProblems(host, error.date, now);
  if (clock.length > 0) return clock;
  const detail =
    "The private key doesn't belong to the App, was deleted at its host, or the App itself was. Generate a new private key in the App's settings there and paste it here, or remove this connection.";
  return [{ kind: "rejected", title: `${host} rejects the App's key`, detail, url: null }];
}

function clockProblems(host: string, date: Date | null, now: Date): readonly AppProblem[] {
  const skewMs = date === null ? 0 : now.getTime() - date.getTime();
  if (Math.abs(skewMs) <= maxSkewMs) return [];
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  const title = `This machine's clock is ${seconds} s ${skewMs > 0 ? "ahead of" : "behind"} ${host}'s`;
  const detail = `${host} rejects tokens from another time. Synchronize the clock, for example with systemd-timesyncd.`;
  return [{ kind: "clock", title, detail, url: null }];
}

function permissionProblems(host: string, app: App, settingsUrl: string): readonly AppProblem[] {
  const missing = missingPermissions(app.permissions);
  if (missing.length === 0) return [];
  const title = `The App lacks ${missing.length === 1 ? "a permission" : "permissions"}: ${missing.join(", ")}`;
  const detail = `Add ${missing.length === 1 ? "it" : "them"} in the App's settings on ${host}. Then the owner of each account accepts the change.`;
  return [{ kind: "permissions", title, detail, url: `${settingsUrl}/permissions` }];
}

function eventProblems(host: string, app: App, settingsUrl: string, hasWebhook: boolean): readonly AppProblem[] {
  const missing = hasWebhook ? missingEvents(app.events) : [];
  if (missing.length === 0) return [];
  const title = `The App doesn't subscribe to ${missing.join(", ")}`;
  const detail = `Subscribe to ${missing.length === 1 ? "this event" : "these events"} in the App's settings on ${host}. Until then the repositories are asked for changes.`;
  return [{ kind: "events", title, detail, url: `${settingsUrl}/permissions` }];
}

async function webhookProblems({ github, instanceUrl, webhookPath, now }: Asked, settingsUrl: string) {
  const { url } = github.config;
  const host = gitHubHostName(url);
  const expected = instanceUrl + webhookPath;
  const current = await github.webhookUrl();
  const asks = "Pushes are found by asking for them, within half a minute while somebody works.";
  if (!webhooksMayArrive(url, instanceUrl)) {
    return { hasWebhook: false, problems: [], notes: [`${host} can't reach ${instanceUrl}. ${asks}`] };
  }
  if (current === null || current === "")
    return { hasWebhook: false, problems: [], notes: [`The App sends no webhooks. ${asks}`] };
  const problems: AppProblem[] = [];
  if (current !== expected) {
    const detail = `It sends them to ${current}, and should to ${expected}. Change the webhook secret here: that sets the address too.`;
    problems.push({ kind: "webhooks", title: "The App sends webhooks elsewhere", detail, url: settingsUrl });
  }
  const failed = failures((await github.webhookDeliveries()).deliveries, now);
  if (failed) {
    const title = `${failed.count} of the last ${failed.of} webhooks didn't arrive`;
    const detail = `${host} reports ${failed.status}. ${host} must reach ${expected}. What is missed is requested again, and repositories are asked for changes.`;
    problems.push({ kind: "webhooks", title, detail, url: `${settingsUrl}/advanced` });
  }
  return { hasWebhook: true, problems, notes: [] };
}

/** Null if the newest delivery arrived, or there is none. */
function failures(deliveries: readonly GitHubDelivery[], now: Date) {
  const arrived = (delivery: GitHubDelivery) => delivery.status_code >= 200 && delivery.status_code < 300;
  const recent = deliveries.filter(({ delivered_at }) => now.getTime() - Date.parse(delivered_at) < recentMs);
  const [newest] = recent;
  if (!newest || arrived(newest)) return null;
  const { status_code: code, status } = newest;
  const failed = recent.filter((delivery) => !arrived(delivery));
  return { count: failed.length, of: recent.length, status: code > 0 ? `${code} ${status}`.trim() : status };
}
