import { createOneTimeState, takeOneTimeState } from "@towpath/auth";
import type { Context } from "@towpath/core/context";
import { TowpathError } from "@towpath/core/errors";
import { newId } from "@towpath/core/ids";
import { connectGitHub } from "@towpath/core/sources/github-connection";
import { gitHubApiUrl } from "@towpath/core/sources/github-connection/schema";
import { randomToken } from "@towpath/crypto";
import { appManifest, convertManifest, isGitHubError, manifestUrl, webhookPathOf } from "@towpath/github";
import { z } from "zod";
import { gitHub, services } from "~/compose.server.ts";
import { contextForUser } from "~/http/caller.server.ts";
import { redirectTo } from "~/http/request.server.ts";

/** The connection that a person makes while their browser creates the App at GitHub (GH-5). */
const appTripSchema = z.object({
  purpose: z.literal("app"),
  orgSlug: z.string(),
  /** Of the connection, once it is stored. */
  id: z.uuid(),
  /** github.com, or an Enterprise host. */
  url: z.url(),
  /** Login of the organization that will own the App; null: the person. */
  organization: z.string().nullable(),
});
export type AppTrip = z.infer<typeof appTripSchema>;

/** People need a while to name and confirm the App. */
const tripSeconds = 60 * 60;

const returnPath = "/api/github/apps/created";
/** GitHub's limit for names of Apps, which are unique. */
const maxNameLength = 34;

const begin = (sessionId: string, data: AppTrip): Promise<string> =>
  createOneTimeState(services().database.db, { newId, sessionId, data, ttlSeconds: tripSeconds });

async function end(sessionId: string, state: string | null): Promise<AppTrip | null> {
  if (!state) return null;
  const data = await takeOneTimeState(services().database.db, state, sessionId);
  return appTripSchema.safeParse(data).data ?? null;
}

/** The path that leads to GitHub's page for a new App. The caller has checked the permission. */
export async function beginAppTrip(sessionId: string, trip: Omit<AppTrip, "purpose" | "id">): Promise<string> {
  const state = await begin(sessionId, { ...trip, purpose: "app", id: newId() });
  return `/api/github/apps/new?state=${encodeURIComponent(state)}`;
}

/**
 * GET /api/github/apps/new: a document that immediately posts the manifest to GitHub, which accepts it only by a form.
 * Pages of the app may not send forms to other sites, but this document's policy allows the one host.
 */
export async function sendManifest(request: Request): Promise<Response> {
  const signedIn = await services().auth.session(request.headers);
  if (!signedIn) return redirectTo("/login");
  const trip = await end(signedIn.sessionId, new URL(request.url).searchParams.get("state"));
  if (!trip) return redirectTo("/?problem=expired");
  const { baseUrl } = services().config;
  const manifest = appManifest({
    url: trip.url,
    instanceUrl: baseUrl,
    returnPath,
    webhookPath: webhookPathOf(trip.id),
    name: `Towpath ${trip.orgSlug} ${trip.id.slice(-4)}`.slice(-maxNameLength).trim(),
  });
  const action = manifestUrl(trip.url, trip.organization, await begin(signedIn.sessionId, trip));
  const nonce = randomToken();
  return new Response(manifestDocument({ action, manifest: JSON.stringify(manifest), nonce }), {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": [
        "default-src 'none'",
        `script-src 'nonce-${nonce}'`,
        "style-src 'unsafe-inline'",
        `form-action ${new URL(trip.url).origin}`,
        "base-uri 'none'",
        "frame-ancestors 'none'",
      ].join("; "),
    },
  });
}

const escaped = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

const manifestDocument = (form: {
  readonly action: string;
  readonly manifest: string;
  readonly nonce: string;
}) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Continue to GitHub · Towpath</title>
<style>body{font:1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:4rem auto;padding:0 1rem;color-scheme:light dark}button{font:inherit;padding:.5rem 1rem}</style>
</head>
<body>
<main>
<h1>Continue to ${escaped(new URL(form.action).host)}</h1>
<p>Confirm there that the App is created. You come back here by yourself.</p>
<form method="post" action="${escaped(form.action)}">
<input type="hidden" name="manifest" value="${escaped(form.manifest)}">
<button type="submit">Continue</button>
</form>
</main>
<script nonce="${form.nonce}">document.forms[0].submit()</script>
</body>
</html>
`;

/** GET /api/github/apps/created: GitHub made the App and sends a code for its keys. Ends on the settings page. */
export async function connectCreatedApp(request: Request): Promise<Response> {
  const signedIn = await services().auth.session(request.headers);
  if (!signedIn) return redirectTo("/login");
  const { searchParams } = new URL(request.url);
  const trip = await end(signedIn.sessionId, searchParams.get("state"));
  if (!trip) return redirectTo("/?problem=expired");
  const back = (query: string) => redirectTo(`/${trip.orgSlug}/settings/github?${query}`);
  const code = searchParams.get("code");
  if (!code) return back("problem=app_declined");
  try {
    const { number } = await connect(contextForUser(signedIn.user.id, request.headers), trip, code);
    gitHub().forget();
    return back(`connected=${number}`);
  } catch (error) {
    services().log.warn({ err: error, host: trip.url }, "a GitHub App was not connected");
    if (isGitHubError(error, "unavailable")) return back("problem=unavailable");
    if (error instanceof TowpathError || isGitHubError(error)) return back("problem=app_failed");
    throw error;
  }
}

async function connect(ctx: Context<"secrets">, { orgSlug, id, url }: AppTrip, code: string) {
  const apiUrl = gitHubApiUrl(url);
  const {
    name: _name,
    htmlUrl: _page,
    webhookSecret,
    ...app
  } = await convertManifest(apiUrl, code, services().reachGitHub);
  // An App without a webhook has no secret; it uses this one when a webhook is set.
  const input = { ...app, orgSlug, id, url, apiUrl, webhookSecret: webhookSecret ?? randomToken() };
  return connectGitHub({ ctx, input });
}
