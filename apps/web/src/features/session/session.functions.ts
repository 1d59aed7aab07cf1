import { createServerFn } from "@tanstack/react-start";
import { anonymous } from "~/http/session-middleware.ts";

/** Who is signed in, or null (AUTH-4). */
export const getCurrentAuth = createServerFn({ method: "GET" })
  .middleware([anonymous])
  .handler(({ context }) => {
    const { signedIn } = context;
    return signedIn && { user: signedIn.user, organizationId: signedIn.activeOrganizationId };
  });
