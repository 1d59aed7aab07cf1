import { z } from "zod";
import { createAppCredentials } from "./app-credentials.ts";
import { createContentCalls } from "./contents.ts";
import type { GitHub, GitHubConfig } from "./contract.ts";
import { createRepositoryFromSample } from "./create-repository.ts";
import { gitHubAppSchema, gitHubDeliverySchema, gitHubInstallationSchema } from "./github.schema.ts";
import { createRepositoryCalls } from "./repositories.ts";
import { createRepositoryReader } from "./repository-reader.ts";
import { apiPath, nextFromLink, requestJson } from "./request.ts";
import { createUserCalls } from "./user-authorization.ts";

/**
 * The only door to GitHub (GH-1). The same code talks to github.com, to an Enterprise host and to the local forge; the
 * configuration's URLs and credentials are the whole difference. Nothing connects before the first call.
 *
 * Throws when the private key cannot be read.
 */
export function createGitHub(config: GitHubConfig): GitHub {
  const credentials = createAppCredentials(config);
  const reader = createRepositoryReader(config, credentials);

  async function asApp<Schema extends z.ZodType>(method: "GET" | "POST", path: string, schema: Schema) {
    const authorization = await credentials.appAuthorization();
    return requestJson({ method, url: config.apiUrl + path, authorization }, schema);
  }

  const { appId, appSlug, clientId, url, apiUrl } = config;
  return {
    config: { appId, appSlug, clientId, url, apiUrl },
    ...createUserCalls(config),
    ...createRepositoryCalls(reader),
    ...createContentCalls(config, credentials, reader),
    createRepositoryFromSample: (input) => createRepositoryFromSample(config, credentials, input),
    async app() {
      return (await asApp("GET", "/app", gitHubAppSchema)).value;
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
