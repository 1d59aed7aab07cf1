import { createPrivateKey } from "node:crypto";
import type { Context } from "@towpath/core/context";
import { notFound, TowpathError } from "@towpath/core/errors";
import {
  authorizeInstance,
  changeGitHubKeys,
  type GitHubConnectionView,
} from "@towpath/core/sources/github-connection";
import { randomToken } from "@towpath/crypto";
import { createGitHub, isGitHubError, withGitHub } from "@towpath/github";
import { gitHub, services } from "~/compose.server.ts";

/**
 * Gives an App a new webhook secret and this instance's webhook address, at its host and here.
 *
 * @throws TowpathError `not_found`, `forbidden`; errors of the host: until a retry succeeds, its webhooks are refused
 */
export async function renewWebhookSecret(
  ctx: Context<"secrets">,
  orgSlug: string,
  id: string,
): Promise<GitHubConnectionView> {
  await authorizeInstance(ctx, { orgSlug });
  const connection = await gitHub().find(id);
  if (!connection) throw notFound("GitHub connection");
  const webhookSecret = randomToken();
  // Store it first: webhooks signed with the new secret are then accepted, and those signed before are redelivered.
  const after = await changeGitHubKeys({ ctx, input: { orgSlug, id, keys: { webhookSecret } } });
  gitHub().forget();
  const url = services().config.baseUrl + connection.webhookPath;
  await withGitHub(() => connection.github.setWebhook({ url, secret: webhookSecret }));
  return after;
}

const refused = (message: string) => new TowpathError("invalid_input", message, { fields: { privateKey: message } });

/**
 * Checks that a private key belongs to the connection's App.
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
