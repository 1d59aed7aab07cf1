import { randomUUID } from "node:crypto";
import type { ForgeContext } from "../forge.context.ts";
import {
  accountShape,
  accountShapeById,
  installationShape,
  pullRequestShape,
  repositoryShape,
} from "../rest/shapes.ts";
import type { Account } from "../state/accounts.ts";
import { insertDelivery } from "../state/deliveries.ts";
import { type Installation, installationOfRepository } from "../state/installations.ts";
import type { PullRequest } from "../state/pull-requests.ts";
import type { Repository } from "../state/repositories.ts";

type Event = { name: string; action?: string; payload: Record<string, unknown> };

/*
 * Each stores a delivery and sends nothing: callers store it in their transaction, so that a change and its webhook are
 * committed together, and then call `deliverer.wake()`.
 */

/** An event of a repository. Stored only if the App is installed on it. */
export function enqueueRepositoryEvent(
  context: ForgeContext,
  repository: Repository,
  sender: Account | null,
  event: Event,
): void {
  const installation = installationOfRepository(context.database, repository);
  if (installation === null) return;
  const payload = {
    ...event.payload,
    ...(event.action && { action: event.action }),
    repository: repositoryShape(context, repository),
    installation: { id: installation.id },
    sender: sender ? accountShape(context, sender) : accountShapeById(context, repository.owner_id),
  };
  insertDelivery(context.database, {
    guid: randomUUID(),
    event: event.name,
    action: event.action ?? null,
    installation_id: installation.id,
    repository_id: repository.id,
    body: JSON.stringify(payload),
    redelivery: false,
  });
}

export function enqueuePullRequestEvent(
  context: ForgeContext,
  input: { repository: Repository; pull: PullRequest; action: string; sender: Account | null },
): void {
  const { repository, pull, action, sender } = input;
  const payload = { number: pull.number, pull_request: pullRequestShape(context, repository, pull) };
  enqueueRepositoryEvent(context, repository, sender, { name: "pull_request", action, payload });
}

const brief = ({ id, owner, name, private: isPrivate }: Repository) => ({
  id,
  name,
  full_name: `${owner}/${name}`,
  private: isPrivate,
});

export function enqueueInstallationEvent(
  context: ForgeContext,
  input: { installation: Installation; action: "created" | "deleted"; repositories: readonly Repository[] },
): void {
  const { installation, action } = input;
  const payload = {
    action,
    installation: installationShape(context, installation),
    repositories: input.repositories.map(brief),
    sender: accountShapeById(context, installation.account_id),
  };
  insertDelivery(context.database, {
    guid: randomUUID(),
    event: "installation",
    action,
    installation_id: installation.id,
    repository_id: null,
    body: JSON.stringify(payload),
    redelivery: false,
  });
}
