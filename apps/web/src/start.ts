import { createCsrfMiddleware, createStart } from "@tanstack/react-start";
import { batchedFetch } from "./http/batched-fetch.ts";
import { errorAdapter } from "./http/errors.ts";
import { documentHeaders, functionErrors, repeatedCookie, unreadableCalls } from "./http/global-middleware.ts";

// A start file disables the framework's built-in CSRF middleware, so it is added here.
const csrf = createCsrfMiddleware({ filter: (ctx) => ctx.handlerType === "serverFn" });

export const startInstance = createStart(() => ({
  requestMiddleware: [documentHeaders, csrf, repeatedCookie, unreadableCalls],
  functionMiddleware: [functionErrors],
  serializationAdapters: [errorAdapter],
  serverFns: { fetch: batchedFetch },
}));
