import { z } from "zod";
import { neededEvents, neededPermissions } from "./app-needs.ts";
import { apiPath, type Reach, requestJson } from "./request.ts";
import { webhooksMayArrive } from "./webhooks-arrive.ts";

export type ManifestFor = {
  /** For browsers, without a trailing slash: https://github.com */
  readonly url: string;
  /** The dashboard's. */
  readonly instanceUrl: string;
  /** At most 34 characters, unique at the host; the person can change it there. */
  readonly name: string;
  /** Path of the instance that the person returns to with a code. */
  readonly returnPath: string;
  /** Path of the instance for this connection's webhooks. */
  readonly webhookPath: string;
};

/**
 * The manifest of Towpath's GitHub App. Without a webhook where none could arrive: GitHub refuses such an address, and
 * the worker polls instead (GH-6).
 *
 * Source: GitHub docs, "Registering a GitHub App from a manifest".
 */
export function appManifest({ url, instanceUrl, name, returnPath, webhookPath }: ManifestFor) {
  const hasWebhook = webhooksMayArrive(url, instanceUrl);
  return {
    name,
    url: instanceUrl,
    redirect_url: instanceUrl + returnPath,
    callback_urls: [`${instanceUrl}/api/github/callback`],
    setup_url: `${instanceUrl}/api/github/setup`,
    setup_on_update: true,
    public: true,
    default_permissions: neededPermissions,
    ...(hasWebhook && {
      hook_attributes: { url: instanceUrl + webhookPath, active: true },
      default_events: neededEvents,
    }),
  };
}

/** Where the manifest is sent by a form. `organization`: login of the App's owner; null: the person's own account. */
export function manifestUrl(url: string, organization: string | null, state: string): string {
  const owner = organization === null ? "" : `/organizations/${encodeURIComponent(organization)}`;
  return `${url}${owner}/settings/apps/new?state=${encodeURIComponent(state)}`;
}

const createdAppSchema = z
  .object({
    id: z.number().int().positive(),
    slug: z.string(),
    name: z.string(),
    client_id: z.string(),
    client_secret: z.string(),
    /** null for an App without a webhook. */
    webhook_secret: z.string().nullish(),
    pem: z.string(),
    html_url: z.string(),
    owner: z.object({ login: z.string() }),
  })
  .transform(({ id, slug, name, client_id, client_secret, webhook_secret, pem, html_url, owner }) => ({
    appId: String(id),
    appSlug: slug,
    name,
    clientId: client_id,
    clientSecret: client_secret,
    webhookSecret: webhook_secret ?? null,
    privateKey: pem,
    htmlUrl: html_url,
    ownerLogin: owner.login,
  }));

export type CreatedApp = z.infer<typeof createdAppSchema>;

/**
 * The App that a person has just made of a manifest. A code works once, for an hour.
 *
 * @throws GitHubError `not_found` for a code that was used or is unknown
 */
export async function convertManifest(apiUrl: string, code: string, reach?: Reach): Promise<CreatedApp> {
  const url = `${apiUrl}${apiPath("app-manifests", code, "conversions")}`;
  return (await requestJson({ reach, method: "POST", url }, createdAppSchema)).value;
}
