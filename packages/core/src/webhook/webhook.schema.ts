import { z } from "zod";

export const receiveWebhookSchema = z.object({
  /** X-GitHub-Delivery */
  deliveryId: z.string().regex(/^[\w-]{1,100}$/, "A delivery is named by a short id"),
  /** X-GitHub-Event */
  event: z.string().regex(/^\w{1,100}$/, "An event is named by one word"),
  payload: z.record(z.string(), z.unknown()),
});
export type ReceiveWebhookInput = z.input<typeof receiveWebhookSchema>;

/** What a delivery means for Towpath; made from GitHub's payload by the job. */
export type WebhookChange =
  | {
      /** A branch was pushed, or its pull request opened or reopened: it shall be built. */
      readonly kind: "branch-changed";
      readonly repositoryId: number;
      /** owner/name as GitHub says it now. */
      readonly repositoryFullName: string;
      readonly branch: string;
      readonly pullRequest: { readonly number: number; readonly url: string } | null;
    }
  | { readonly kind: "branch-deleted"; readonly repositoryId: number; readonly branch: string }
  | {
      readonly kind: "pull-request-closed";
      readonly repositoryId: number;
      readonly branch: string;
      readonly number: number;
    }
  | { readonly kind: "installation-removed"; readonly installationId: number }
  | { readonly kind: "ignored" };
