import { asTowpathError } from "@towpath/core/errors";
import { services } from "~/compose.server.ts";

/** The error response of REST, streams and webhooks: `{ error: { code, message, fields } }`. */
function errorResponse(thrown: unknown, request: Request): Response {
  const error = asTowpathError(thrown);
  if (error.code === "internal") {
    const { pathname } = new URL(request.url);
    services().log.error({ err: thrown, method: request.method, path: pathname }, "request failed");
  }
  const { code, message, fields } = error;
  const headers = error.code === "unauthenticated" ? { "www-authenticate": 'Bearer realm="towpath"' } : undefined;
  return Response.json({ error: { code, message, fields } }, { status: error.httpStatus, ...(headers && { headers }) });
}

/** Runs a handler and maps what it throws. */
export async function answering(request: Request, work: () => Promise<Response>): Promise<Response> {
  try {
    return await work();
  } catch (thrown) {
    return errorResponse(thrown, request);
  }
}
