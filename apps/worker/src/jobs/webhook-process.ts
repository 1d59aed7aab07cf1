import { getWebhookDelivery, processWebhook, type ReadHead, type WebhookChange } from "@towpath/core/webhook";
import { isGitHubError, parseWebhookPayload, type WebhookEvent } from "@towpath/github";
import { ZodError } from "zod";
import { jobContext, type Services } from "../services.ts";

/** Acts on a stored delivery. A throw (GitHub or the database is away) gives it back to the queue. */
export async function processDelivery(services: Services, deliveryId: string): Promise<void> {
  const ctx = jobContext(services, "webhook.process");
  const stored = await getWebhookDelivery({ ctx, input: { deliveryId } });
  if (!stored || stored.processed) return;
  const change = readChange(services, deliveryId, stored);
  const done = await processWebhook({ ctx, input: { deliveryId, change, readHead: readHeadOf(services) } });
  services.log.info({ deliveryId, event: stored.event, change: change.kind, ...done }, "webhook processed");
}

function readChange(
  services: Services,
  deliveryId: string,
  stored: { readonly event: string; readonly payload: unknown },
): WebhookChange {
  try {
    return changeOf(parseWebhookPayload(stored.event, stored.payload));
  } catch (error) {
    if (!(error instanceof ZodError)) throw error;
    // It will not read better the next time.
    services.log.warn({ deliveryId, event: stored.event, err: error }, "webhook payload not understood");
    return { kind: "ignored" };
  }
}

const pullRequestOpens = new Set(["opened", "reopened", "synchronize"]);

/** What an event of GitHub means for Towpath. Pure. */
export function changeOf(event: WebhookEvent): WebhookChange {
  switch (event.event) {
    case "push": {
      const { branch, deleted, repository } = event.payload;
      if (branch === null) return { kind: "ignored" };
      if (deleted) return { kind: "branch-deleted", repositoryId: repository.id, branch };
      return branchChanged(repository, branch, null);
    }
    case "delete": {
      const { ref, ref_type, repository } = event.payload;
      return ref_type === "branch"
        ? { kind: "branch-deleted", repositoryId: repository.id, branch: ref }
        : { kind: "ignored" };
    }
    case "pull_request":
      return pullRequestChange(event.payload);
    case "installation":
      return event.payload.action === "deleted"
        ? { kind: "installation-removed", installationId: event.payload.installation.id }
        : { kind: "ignored" };
    default:
      return { kind: "ignored" };
  }
}

function pullRequestChange(payload: Extract<WebhookEvent, { event: "pull_request" }>["payload"]): WebhookChange {
  const { action, number, pull_request, repository } = payload;
  // Code of a fork is not built without a member's approval (BLD-9).
  if (pull_request.head.repo?.id !== repository.id) return { kind: "ignored" };
  const branch = pull_request.head.ref;
  if (action === "closed") return { kind: "pull-request-closed", repositoryId: repository.id, branch, number };
  if (!pullRequestOpens.has(action)) return { kind: "ignored" };
  return branchChanged(repository, branch, { number, url: pull_request.html_url });
}

function branchChanged(
  repository: { readonly id: number; readonly full_name: string },
  branch: string,
  pullRequest: { readonly number: number; readonly url: string } | null,
): WebhookChange {
  return {
    kind: "branch-changed",
    repositoryId: repository.id,
    repositoryFullName: repository.full_name,
    branch,
    pullRequest,
  };
}

const readHeadOf =
  (services: Services): ReadHead =>
  async (project, branchName) => {
    const [owner, name] = project.repositoryFullName?.split("/") ?? [];
    if (project.installationId === null || !owner || !name) return null;
    try {
      const head = await services.github.branch({ installationId: project.installationId, owner, name }, branchName);
      return { sha: head.commit.sha, message: head.commit.message, author: head.commit.author.name || null };
    } catch (error) {
      if (isGitHubError(error, "not_found")) return null;
      throw error;
    }
  };
