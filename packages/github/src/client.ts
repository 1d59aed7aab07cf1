import { z } from "zod";
import { createAppCredentials } from "./app-credentials.ts";
import { createContentCalls } from "./contents.ts";
import type { GitHub, GitHubConfig } from "./contract.ts";
import { createRepositoryFromSample } from "./create-repository.ts";
import { isGitHubError } from "./errors.ts";
import { gitHubAppSchema, gitHubDeliverySchema, gitHubInstallationSchema } from "./github.schema.ts";
import { createPushCalls } from "./push.ts";
import { createReportCalls } from "./reports.ts";
import { createRepositoryCalls, createRepositoryReader } from "./repositories.ts";
import { apiPath, nextFromLink, requestJson } from "./request.ts";
import { createUserCalls } from "./user-authorization.ts";

const hookSchema = z.object({ url: z.string().nullish() });

/**
 * The only GitHub client (GH-1). It talks to github.com or an Enterprise host, depending on the
 * configuration. Doesn't connect before the first call.
 *
 * @throws when the private key can't be parsed
 */
export function createGitHub(config: GitHubConfig): GitHub {
  const credentials = createAppCredentials(config);
  const reader = createRepositoryReader(config, credentials);

  async function asApp<Schema extends z.ZodType>(
    method: "GET" | "POST" | "PATCH",
    path: string,
    schema: Schema,
    body?: unknown,
  ) {
    const authorization = await credentials.appAuthorization();
    return requestJson({ reach: config.reach, method, url: config.apiUrl + path, authorization, body }, schema);
  }

  const { appId, appSlug, clientId, url, apiUrl } = config;
  return {
    config: { appId, appSlug, clientId, url, apiUrl },
    ...createUserCalls(config),
    ...createRepositoryCalls(reader),
    ...createContentCalls(config, credentials, reader),
    ...createReportCalls(config, credentials),
    ...createPushCalls(config, credentials),
    createRepositoryFromSample: (input) => createRepositoryFromSample(config, credentials, input),
    async app() {
      const { value, date } = await asApp("GET", "/app", gitHubAppSchema);
      return { ...value, date };
    },
    async webhookUrl() {
      try {
        return (await asApp("GET", "/app/hook/config", hookSchema)).value.url || null;
      } catch (error) {
        if (isGitHubError(error, "not_found")) return null;
        throw error;
      }
    },
    async setWebhook({ url: target, secret }) {
      await asApp("PATCH", "/app/hook/config", z.unknown(), { url: target, secret, content_type: "json" });
    },
    installUrl(state) {
      return `${url}/apps/${encodeURIComponent(appSlug)}/installations/new?state=${encodeURIComponent(state)}`;
    },
    async installation(installationId) {
      return (await asApp("GET", apiPath("app", "installations", installationId), gitHubInstallationSchema)).value;
    },
    async webhookDeliveries({ cursor } = {}) {
      const query = new URLSearchParams({ per_page: "100", ...(cursor && { cursor }) });
      const { value, link } = await asApp("GET", `/app/hook/deliveries?${query}`, z.array(gitHubDeliverySchema));
      return { deliveries: value, nextCursor: nextFromLink(link, "cursor") };
    },
    async redeliver(deliveryId) {
      await asApp("POST", apiPath("app", "hook", "deliveries", deliveryId, "attempts"), z.unknown());
    },
  };
}
