import { isNotFound, isRedirect } from "@tanstack/react-router";
import { createMiddleware, getGlobalStartContext } from "@tanstack/react-start";
import { setResponseStatus } from "@tanstack/react-start/server";
import { asTowpathError } from "@towpath/core/errors";
import { services } from "~/compose.server.ts";

/**
 * What leaves a server function is a TowpathError, a redirect or a not-found. Anything else is a bug or an outage: it
 * is logged here with all its detail, and the browser gets the public text.
 */
export const functionErrors = createMiddleware({ type: "function" }).server(async ({ next, serverFnMeta }) => {
  try {
    return await next();
  } catch (thrown) {
    if (isRedirect(thrown) || isNotFound(thrown) || thrown instanceof Response) throw thrown;
    const error = asTowpathError(thrown);
    if (error.code === "internal")
      services().log.error({ err: thrown, function: serverFnMeta.name }, "server function failed");
    // While a document is rendered the router decides the status: a guard may yet turn the error into a redirect.
    if (getGlobalStartContext()?.handlerType === "serverFn") setResponseStatus(error.httpStatus);
    throw error;
  }
});
