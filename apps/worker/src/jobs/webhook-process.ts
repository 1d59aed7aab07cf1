import { actFromCheck, type CheckAction } from "@towpath/core/delivery/report";
import { numberOf } from "@towpath/core/sources/github-connection/numbers";
import { forkBranchName, getWebhookDelivery, processWebhook, type WebhookHint } from "@towpath/core/sources/webhook";
import { parseWebhookPayload, type WebhookEvent } from "@towpath/github";
import { ZodError } from "zod";
import { jobContext, type Services } from "../services.ts";

/**
 * Turns a stored delivery into jobs that ask GitHub. After a throw (the database is unreachable) the job is retried.
 */
export async function processDelivery(services: Services, deliveryId: string): Promise<void> {
  const ctx = jobContext(services, "webhook.process");
  const stored = await getWebhookDelivery({ ctx, input: { deliveryId } });
  if (!stored || stored.processed) return;
  const event = readEvent(services, deliveryId, stored);
  const hint = event ? hintOf(event, stored.connection) : ignored;
  const action = event && checkActionOf(event, stored.connection);
  if (action) {
    const outcome = await actFromCheck({ ctx, input: action });
    services.log.info({ deliveryId, ...action, outcome }, "asked for at a check run");
  }
  const done = await processWebhook({ ctx, input: { deliveryId, hint } });
  services.log.info({ deliveryId, event: stored.event, hint: hint.kind, ...done }, "webhook processed");
}

/** Null for a payload that isn't understood. */
function readEvent(
  services: Services,
  deliveryId: string,
  stored: { readonly event: string; readonly payload: unknown },
): WebhookEvent | null {
  try {
    return parseWebhookPayload(stored.event, stored.payload);
  } catch (error) {
    if (!(error instanceof ZodError)) throw error;
    // A retry would fail in the same way.
    services.log.warn({ deliveryId, event: stored.event, err: error }, "webhook payload not understood");
    return null;
  }
}

/**
 * The action that somebody requested at a check run; null for other events. Pure. `connection`: the number of the
 * GitHub connection that sent the event.
 */
export function checkActionOf(event: WebhookEvent, connection: number): CheckAction | null {
  if (event.event !== "check_run") return null;
  const { action, check_run, requested_action, repository, sender } = event.payload;
  const asked = action === "rerequested" ? "rerun" : action === "requested_action" && requested_action?.identifier;
  if (asked !== "rerun" && asked !== "cancel" && asked !== "approve") return null;
  return {
    action: asked,
    externalId: check_run.external_id ?? "",
    commitSha: check_run.head_sha,
    repositoryId: numberOf(connection, repository.id),
    githubUserId: numberOf(connection, sender.id),
  };
}

/** Which branch, repository or installation of a connection an event is about. Pure. */
export function hintOf(event: WebhookEvent, connection: number): WebhookHint {
  const branchOf = (repository: { readonly id: number }, branch: string, mayBeNew: boolean): WebhookHint => ({
    kind: "branch",
    repositoryId: numberOf(connection, repository.id),
    branch,
    mayBeNew,
  });
  switch (event.event) {
    case "push": {
      const { branch, deleted, repository } = event.payload;
      return branch === null ? ignored : branchOf(repository, branch, !deleted);
    }
    case "delete": {
      const { ref, ref_type, repository } = event.payload;
      return ref_type === "branch" ? branchOf(repository, ref, false) : ignored;
    }
    case "pull_request": {
      const { action, pull_request, repository } = event.payload;
      const mayBeNew = pullRequestActions.get(action);
      if (mayBeNew === undefined) return ignored;
      // Code from a fork is not built without a member's approval (BLD-9).
      const isOfFork = pull_request.head.repo?.id !== repository.id;
      return branchOf(repository, isOfFork ? forkBranchName(pull_request.number) : pull_request.head.ref, mayBeNew);
    }
    case "repository":
      return { kind: "repository", repositoryId: numberOf(connection, event.payload.repository.id) };
    case "installation":
    case "installation_repositories":
      return { kind: "installation", installationId: numberOf(connection, event.payload.installation.id) };
    default:
      return ignored;
  }
}

const ignored: WebhookHint = { kind: "ignored" };

/** Actions that concern the branch; true when there may be a new commit to build. */
const pullRequestActions = new Map([
  ["opened", true],
  ["reopened", true],
  ["synchronize", true],
  ["closed", false],
]);
