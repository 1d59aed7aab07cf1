import { createServerFn } from "@tanstack/react-start";
import { TowpathError } from "@towpath/core/errors";
import {
  authorizeInstance,
  changeGitHubKeys,
  type GitHubConnectionView,
  listGitHub,
  removeGitHub,
} from "@towpath/core/sources/github-connection";
import type { AppHealth } from "@towpath/github";
import { z } from "zod";
import { gitHub, services } from "~/compose.server.ts";
import { organizationAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { queryOf } from "~/http/query-of.ts";
import { healthOf } from "./app-health.server.ts";
import { renewWebhookSecret as renew, tryKeys } from "./app-keys.server.ts";
import { beginAppTrip } from "./app-round-trip.server.ts";
import { requireReachableHost } from "./typed-host.server.ts";

const orgSlug = z.string().min(1).max(100);
const connectionInput = z.object({ orgSlug, connectionId: z.uuid() });

/** A GitHub App of this instance, as its host sees it now. */
export type GitHubAppView = GitHubConnectionView & { readonly health: AppHealth };

/**
 * The GitHub Apps of this instance with their problems (GH-5); null for people who don't manage them, who see only
 * their organization's connections on the same page.
 */
const getGitHubApps = createServerFn({ method: "GET" })
  .middleware([organizationAccess("installation.read")])
  .validator(input(z.object({ orgSlug })))
  .handler(async ({ context, data }): Promise<readonly GitHubAppView[] | null> => {
    const environment = services().config.gitHub;
    try {
      const apps = await listGitHub({ ctx: context.ctx, input: { ...data, environment } });
      return await Promise.all(apps.map(async (app) => ({ ...app, health: await healthOf(app.number) })));
    } catch (error) {
      if (error instanceof TowpathError && error.code === "forbidden") return null;
      throw error;
    }
  });

/** Host names are typed without a scheme. */
const hostSchema = z
  .string()
  .trim()
  .max(200)
  .transform((text) => (/^https?:\/\//i.test(text) ? text : `https://${text}`))
  .pipe(z.url({ protocol: /^https?$/, error: "Type the host's name, such as github.example.com" }))
  .transform((text) => new URL(text).origin);

const accountSchema = z
  .string()
  .trim()
  .regex(/^[\w-]{1,100}$/, "Type the organization's name as in its URL");

/** Starts the creation of an App at GitHub; `path` leads there (GH-5). */
export const beginGitHubApp = createServerFn({ method: "POST" })
  .middleware([organizationAccess("instance.manage")])
  .validator(input(z.object({ orgSlug, host: hostSchema, organization: accountSchema.nullable() })))
  .handler(async ({ context, data }) => {
    await authorizeInstance(context.ctx, data);
    const { host: url, organization } = data;
    await requireReachableHost(url);
    return { path: await beginAppTrip(context.signedIn.sessionId, { orgSlug: data.orgSlug, url, organization }) };
  });

/** Replaces the stored private key or client secret by one made at GitHub, which must accept the key. */
export const changeAppKeys = createServerFn({ method: "POST" })
  .middleware([organizationAccess("instance.manage")])
  .validator(
    input(
      connectionInput.extend({
        privateKey: z.string().trim().max(20_000).optional(),
        clientSecret: z.string().trim().max(500).optional(),
      }),
    ),
  )
  .handler(async ({ context, data: { orgSlug: slug, connectionId: id, privateKey, clientSecret } }) => {
    const keys = { ...(privateKey && { privateKey }), ...(clientSecret && { clientSecret }) };
    await authorizeInstance(context.ctx, { orgSlug: slug });
    if (keys.privateKey) await tryKeys(id, keys.privateKey);
    const after = await changeGitHubKeys({ ctx: context.ctx, input: { orgSlug: slug, id, keys } });
    gitHub().forget();
    return after;
  });

/** Gives the App a new webhook secret and this instance's webhook address, at GitHub and here. */
export const renewWebhookSecret = createServerFn({ method: "POST" })
  .middleware([organizationAccess("instance.manage")])
  .validator(input(connectionInput))
  .handler(({ context, data: { orgSlug: slug, connectionId: id } }) => renew(context.ctx, slug, id));

/** Forgets an App and its keys. */
export const removeGitHubApp = createServerFn({ method: "POST" })
  .middleware([organizationAccess("instance.manage")])
  .validator(input(connectionInput.extend({ confirmation: z.string().max(200) })))
  .handler(async ({ context, data: { orgSlug: slug, connectionId: id, confirmation } }) => {
    await removeGitHub({ ctx: context.ctx, input: { orgSlug: slug, id, confirmation } });
    gitHub().forget();
  });

export const gitHubAppsQuery = (slug: string) =>
  queryOf(["github-apps", slug], getGitHubApps, { orgSlug: slug }, { staleTime: 30_000 });
