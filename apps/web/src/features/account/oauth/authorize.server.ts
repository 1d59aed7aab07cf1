import { asTowpathError } from "@towpath/core/errors";
import { services } from "~/compose.server.ts";
import { authorizeResponse, type RefusedAuthorization } from "./endpoints.server.ts";

/** The redirect of an authorization request, or its refusal for a page. */
export async function authorizeOrRefuse(request: Request): Promise<Response | RefusedAuthorization> {
  try {
    return await authorizeResponse(request);
  } catch (thrown) {
    const error = asTowpathError(thrown);
    if (error.code === "internal") services().log.error({ err: thrown }, "authorization request failed");
    return { reason: error.message, back: null };
  }
}
