import { asTowpathError } from "@towpath/core/errors";
import { services } from "~/compose.server.ts";
import { authorizeResponse } from "~/http/oauth/endpoints.server.ts";

/** The redirect of an authorization request, or the text of a page for what must not be sent to the client. */
export async function authorizeOrRefuse(request: Request): Promise<Response | string> {
  try {
    return await authorizeResponse(request);
  } catch (thrown) {
    const error = asTowpathError(thrown);
    if (error.code === "internal") services().log.error({ err: thrown }, "authorization request failed");
    return error.message;
  }
}
