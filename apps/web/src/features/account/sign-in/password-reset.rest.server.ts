import { z } from "zod";
import { answers } from "~/features/shared/answers/answers.server.ts";
import { type Operation, operation } from "~/http/rest/operation.server.ts";
import { createResetLink } from "./password-reset.server.ts";

/** `./towpath reset-password` (AUTH-2). */
export const passwordResetOperations: readonly Operation[] = [
  operation("POST /password-resets", "createPasswordReset", "operator", {
    summary:
      "a link with which a person sets a new password; with `removeSecondFactor` their two-factor sign-in is turned off",
    body: z.object({ email: z.string().min(1).max(254), removeSecondFactor: z.boolean().default(false) }),
    answer: answers.passwordReset,
    handle: ({ ctx, body }) => createResetLink(ctx, body),
  }),
];
