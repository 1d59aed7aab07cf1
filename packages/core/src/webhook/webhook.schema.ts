import { z } from "zod";

export const receiveWebhookSchema = z.object({
  /** X-GitHub-Delivery */
  deliveryId: z.string().regex(/^[\w-]{1,100}$/, "A delivery is named by a short id"),
  /** X-GitHub-Event */
  event: z.string().regex(/^\w{1,100}$/, "An event is named by one word"),
  payload: z.record(z.string(), z.unknown()),
});
export type ReceiveWebhookInput = z.input<typeof receiveWebhookSchema>;

/**
 * What a delivery is about, made from GitHub's payload by the job. It says where to look, never what is there:
 * deliveries come late, twice and out of order (decision 007).
 */
export type WebhookHint =
  | {
      /** A branch was pushed or deleted, or a pull request from it changed. */
      readonly kind: "branch";
      readonly repositoryId: number;
      readonly branch: string;
      /** Whether the branch may be one that Towpath has not seen yet. */
      readonly mayBeNew: boolean;
    }
  /** A repository was renamed or transferred, or has another default branch. */
  | { readonly kind: "repository"; readonly repositoryId: number }
  /** An installation was removed, suspended or resumed, or reaches other repositories. */
  | { readonly kind: "installation"; readonly installationId: number }
  | { readonly kind: "ignored" };
