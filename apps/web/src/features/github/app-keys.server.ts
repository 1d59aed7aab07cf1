import { createPrivateKey } from "node:crypto";
import { notFound, TowpathError } from "@towpath/core/errors";
import { randomToken } from "@towpath/crypto";
import { createGitHub, isGitHubError, withGitHub } from "@towpath/github";
import { gitHub, services } from "~/compose.server.ts";

export const newWebhookSecret = (): string => randomToken();

const refused = (message: string) => new TowpathError("invalid_input", message, { fields: { privateKey: message } });

/**
 * Checks that a private key is one of the connection's App.
 *
 * @throws TowpathError `invalid_input` with `fields.privateKey`; `not_found`, `upstream_unavailable`
 */
export async function tryKeys(connectionId: string, privateKey: string): Promise<void> {
  const connection = await gitHub().find(connectionId);
  if (!connection) throw notFound("GitHub connection");
  if (!isRsaKey(privateKey)) {
    throw refused("This is no private key of a GitHub App. Paste the whole .pem file, from BEGIN to END.");
  }
  const { config } = connection.github;
  const { reachGitHub: reach } = services();
  const client = createGitHub({ ...config, reach, privateKey, clientSecret: "", webhookSecret: "" });
  await withGitHub(async () => {
    try {
      await client.app();
    } catch (error) {
      if (isGitHubError(error, "unauthorized") || isGitHubError(error, "not_found"))
        throw refused(`This key doesn't belong to the App ${config.appSlug}. Generate one in the App's settings.`);
      throw error;
    }
  });
}

function isRsaKey(text: string): boolean {
  try {
    return createPrivateKey(text).asymmetricKeyType === "rsa";
  } catch {
    return false;
  }
}
