import { queryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import { getRequestHeaders } from "@tanstack/react-start/server";
import {
  type AccountActivity,
  listAccountActivity,
  updatePreferences,
  updateProfile,
} from "@towpath/core/tenancy/account";
import { preferencesSchema, updateProfileSchema } from "@towpath/core/tenancy/account/schema";
import { changeOwnPicture } from "@towpath/core/tenancy/picture";
import { pictureSchema } from "@towpath/core/tenancy/picture/schema";
import { z } from "zod";
import { services } from "~/compose.server.ts";
import { appCode, email, newPassword } from "~/features/account/sign-in/credentials.schema.ts";
import { selfAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { queryOf } from "~/http/query-of.ts";
import * as emailChange from "./email-change.server.ts";
import * as own from "./own-account.server.ts";

// Everything here acts on the signed-in user's own account.

/** How the user signs in: with a password here and perhaps a second factor, or at the issuer. */
const getSignInMethods = createServerFn({ method: "GET" })
  .middleware([selfAccess])
  .handler(({ context }) => own.signInMethods(context.signedIn.user.id));

/** The user's sessions: the current one first, then the most recently used (ORG-7). */
const getSessions = createServerFn({ method: "GET" })
  .middleware([selfAccess])
  .handler(({ context }) =>
    services().auth.sessions.list({ userId: context.signedIn.user.id, sessionId: context.signedIn.sessionId }),
  );

/** Ends one of the user's sessions (ORG-7). */
export const endSession = createServerFn({ method: "POST" })
  .middleware([selfAccess])
  .validator(input(z.object({ sessionId: z.uuid() })))
  .handler(({ context, data }) => own.endOneSession(context, data.sessionId));

/** Ends all of the user's sessions but this one (ORG-7). */
export const endOtherSessions = createServerFn({ method: "POST" })
  .middleware([selfAccess])
  .handler(({ context }) => own.endOthers(context));

/** Changes the user's name (ORG-4). */
export const saveProfile = createServerFn({ method: "POST" })
  .middleware([selfAccess])
  .validator(input(updateProfileSchema))
  .handler(({ context, data }) => updateProfile({ ctx: context.ctx, input: data }));

/** Changes or removes the user's picture (ORG-4). */
export const saveOwnPicture = createServerFn({ method: "POST" })
  .middleware([selfAccess])
  .validator(input(pictureSchema))
  .handler(({ context, data }) => changeOwnPicture({ ctx: context.ctx, input: data }));

/** Changes how the user reads times (ORG-4). */
export const savePreferences = createServerFn({ method: "POST" })
  .middleware([selfAccess])
  .validator(input(preferencesSchema))
  .handler(({ context, data }) => updatePreferences({ ctx: context.ctx, input: data }));

/** Recent changes of the user's account (ORG-7, ORG-10). */
const getActivity = createServerFn({ method: "GET" })
  .middleware([selfAccess])
  .handler(({ context }) => listAccountActivity({ ctx: context.ctx }));

const password = z.string({ error: "Enter your password" }).min(1, "Enter your password").max(128);

/** Changes the password and ends all other sessions (ORG-7). */
export const changePassword = createServerFn({ method: "POST" })
  .middleware([selfAccess])
  .validator(input(z.object({ current: password, next: newPassword })))
  .handler(({ context, data }) => own.changePassword(context, data, getRequestHeaders()));

/** Requests another email address (ORG-7); `isChanged`: changed at once, because no link can be sent. */
export const requestEmailChange = createServerFn({ method: "POST" })
  .middleware([selfAccess])
  .validator(input(z.object({ email: email.transform((typed) => typed.toLowerCase()), password })))
  .handler(({ context, data }) => emailChange.requestEmailChange(context, data, getRequestHeaders()));

const linkInput = z.object({ token: z.string().max(100) });

/** The address that the link of an email change would set. */
const getLinkedEmail = createServerFn({ method: "GET" })
  .middleware([selfAccess])
  .validator(input(linkInput))
  .handler(({ context, data }) => emailChange.linkedEmail(context, data.token));

/** Changes the email address with the link's token (ORG-7). */
export const confirmEmailChange = createServerFn({ method: "POST" })
  .middleware([selfAccess])
  .validator(input(linkInput))
  .handler(({ context, data }) => emailChange.confirmEmailChange(context, data.token));

/** Ends a change of the email address that waits for its link. */
export const cancelEmailChange = createServerFn({ method: "POST" })
  .middleware([selfAccess])
  .handler(({ context }) => emailChange.cancelEmailChange(context));

/** A new secret for an authenticator app, and recovery codes. In force once `confirmTwoFactor` has checked a code. */
export const beginTwoFactor = createServerFn({ method: "POST" })
  .middleware([selfAccess])
  .validator(input(z.object({ password })))
  .handler(({ context, data }) => own.beginTwoFactor(context, data, getRequestHeaders()));

/** Turns two-factor sign-in on (ORG-7). */
export const confirmTwoFactor = createServerFn({ method: "POST" })
  .middleware([selfAccess])
  .validator(input(z.object({ code: appCode })))
  .handler(({ context, data }) => own.confirmTwoFactor(context, data, getRequestHeaders()));

/** Turns two-factor sign-in off (ORG-7). */
export const endTwoFactor = createServerFn({ method: "POST" })
  .middleware([selfAccess])
  .validator(input(z.object({ password })))
  .handler(({ context, data }) => own.endTwoFactor(context, data, getRequestHeaders()));

/** Replaces the recovery codes; the earlier ones stop working (ORG-7). */
export const renewRecoveryCodes = createServerFn({ method: "POST" })
  .middleware([selfAccess])
  .validator(input(z.object({ password })))
  .handler(({ context, data }) => own.renewRecoveryCodes(context, data, getRequestHeaders()));

export const activityQuery = queryOptions({
  queryKey: ["account", "activity"],
  queryFn: ({ signal }): Promise<readonly AccountActivity[]> => getActivity({ signal }),
});

export const sessionsQuery = queryOf(["account", "sessions"], getSessions, undefined);

export const linkedEmailQuery = (token: string) =>
  queryOf(["account", "linked-email", token], getLinkedEmail, { token });

export const signInMethodsQuery = queryOf(["account", "sign-in-methods"], getSignInMethods, undefined);
