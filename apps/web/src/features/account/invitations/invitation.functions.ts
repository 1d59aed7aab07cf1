import { queryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import { getRequestHeaders } from "@tanstack/react-start/server";
import { acceptInvitation as acceptInvitationVerb, getInvitationOffer } from "@towpath/core/tenancy/invitation";
import { z } from "zod";
import { services } from "~/compose.server.ts";
import { publicAccess, selfAccess } from "~/http/access.ts";
import { contextForUser } from "~/http/caller.server.ts";
import { input } from "~/http/input.ts";

const linkInput = z.object({ invitationId: z.string().max(64), token: z.string().max(100) });
type Link = z.infer<typeof linkInput>;

/**
 * The offer behind an invitation's link, for anyone who has it, signed in or not (ORG-6): the token is the permission.
 */
const getOffer = createServerFn({ method: "GET" })
  .middleware([publicAccess])
  .validator(input(linkInput))
  .handler(async ({ context, data }) => {
    const { signedIn } = context;
    const ctx = signedIn
      ? contextForUser(signedIn.user.id, getRequestHeaders())
      : services().contextFor({ kind: "job", job: "invitation" });
    const offer = await getInvitationOffer({ ctx, input: data });
    return { offer, userEmail: signedIn?.user.email ?? null };
  });

/** Joins the organization and makes it the session's active one. */
export const acceptInvitation = createServerFn({ method: "POST" })
  .middleware([selfAccess])
  .validator(input(linkInput))
  .handler(async ({ context, data }) => {
    const joined = await acceptInvitationVerb({ ctx: context.ctx, input: data });
    await services().auth.setActiveOrganization(context.signedIn.sessionId, joined.organizationId);
    return joined;
  });

export const offerQuery = (link: Link) =>
  queryOptions({
    queryKey: ["invitation", link.invitationId, link.token],
    queryFn: ({ signal }) => getOffer({ data: link, signal }),
    // Somebody else may have signed in meanwhile.
    staleTime: 0,
  });
