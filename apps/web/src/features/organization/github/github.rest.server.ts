import type { Context } from "@towpath/core/context";
import {
  changeGitHubKeys,
  type GitHubConnectionView,
  listGitHub,
  removeGitHub,
} from "@towpath/core/sources/github-connection";
import { ensureLocalOrganization } from "@towpath/core/tenancy/organization";
import { z } from "zod";
import { gitHub, services } from "~/compose.server.ts";
import { answers } from "~/features/shared/answers/answers.server.ts";
import { listOf, named, names, time } from "~/http/rest/answer-names.ts";
import { type Operation, operation } from "~/http/rest/operation.server.ts";
import { healthOf } from "./app-health.server.ts";
import { renewWebhookSecret, tryKeys } from "./app-keys.server.ts";

const problem = z.object({
  kind: z.enum(["unavailable", "rejected", "clock", "permissions", "events", "webhooks"]),
  title: z.string(),
  detail: z.string().describe("what to do"),
  url: z.url().nullable(),
});

const app = named(
  "GitHubApp",
  z.object({
    id: z.uuid().nullable().describe("null: set by the environment"),
    host: z.string().describe("such as `GitHub`, or `GitHub at github.example.com`"),
    url: z.url(),
    slug: z.string(),
    owner: z.string().nullable(),
    createdAt: time.nullable(),
    accounts: names.describe("that organizations have connected"),
    suspended: names.describe("those of them whose owner has suspended the App: pushes there start no builds"),
    servers: names.describe("that are built from there"),
  }),
);

const checkedApp = named(
  "CheckedGitHubApp",
  app.extend({ problems: listOf(problem), notes: names.describe("facts that are no problems, such as no webhooks") }),
);

const shown = ({ id, hostName: host, url, appSlug: slug, ownerLogin: owner, ...of }: GitHubConnectionView) => {
  const { createdAt, accounts, suspended, servers } = of;
  return { id, host, url, slug, owner, createdAt, accounts, suspended, servers };
};

/** Apps are managed in the instance's own organization. */
const ownOrganization = async (ctx: Context) => (await ensureLocalOrganization({ ctx })).slug;

/** GitHub Apps of the instance (GH-5). They are connected in a browser, as GitHub returns their keys only there. */
export const gitHubOperations: readonly Operation[] = [
  operation("GET /github-apps", "listGitHubApps", "operator", {
    summary: "the GitHub Apps of this instance, and what is wrong with each",
    answer: listOf(checkedApp),
    handle: async ({ ctx }) => {
      const orgSlug = await ownOrganization(ctx);
      const apps = await listGitHub({ ctx, input: { orgSlug, environment: services().config.gitHub } });
      return Promise.all(
        apps.map(async (each) => {
          const { problems, notes } = await healthOf(each.number);
          return { ...shown(each), problems, notes };
        }),
      );
    },
  }),
  operation("GET /github-apps/connect-page", "findGitHubConnectPage", "operator", {
    summary:
      "where an owner of the instance's own organization connects an App: GitHub sends its keys only to a browser",
    answer: z.object({ url: z.url(), organization: z.string().describe("its name") }),
    handle: async ({ ctx }) => {
      const { slug, name } = await ensureLocalOrganization({ ctx });
      return { url: `${services().config.baseUrl}/${slug}/settings/github`, organization: name };
    },
  }),
  operation("PATCH /github-apps/{appId}", "changeGitHubAppKeys", "operator", {
    summary: "replaces its `privateKey` (PEM) or `clientSecret` with one that was made in the App's settings at GitHub",
    body: z.object({
      privateKey: z.string().trim().min(1).max(20_000).optional(),
      clientSecret: z.string().trim().min(1).max(500).optional(),
    }),
    answer: app,
    handle: async ({ ctx, params, body }) => {
      if (body.privateKey) await tryKeys(params.appId, body.privateKey);
      const input = { orgSlug: await ownOrganization(ctx), id: params.appId, keys: body };
      const after = await changeGitHubKeys({ ctx, input });
      gitHub().forget();
      return shown(after);
    },
  }),
  operation("POST /github-apps/{appId}/webhook-secret", "renewGitHubAppWebhookSecret", "operator", {
    summary:
      "gives it a new webhook secret and this instance's webhook address, at GitHub and here; the secret is never shown",
    answer: app,
    handle: async ({ ctx, params }) => shown(await renewWebhookSecret(ctx, await ownOrganization(ctx), params.appId)),
  }),
  operation("DELETE /github-apps/{appId}", "removeGitHubApp", "operator", {
    summary: "forgets it and its keys: its servers stay live and get no more builds; `?confirm=` its `slug`",
    query: z.object({ confirm: z.string().max(200) }),
    answer: answers.deleted,
    handle: async ({ ctx, params, query }) => {
      const orgSlug = await ownOrganization(ctx);
      await removeGitHub({ ctx, input: { orgSlug, id: params.appId, confirmation: query.confirm } });
      gitHub().forget();
      return { id: params.appId };
    },
  }),
];
