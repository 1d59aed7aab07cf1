import { createCsrfMiddleware, createStart } from "@tanstack/react-start";
import { errorAdapter } from "./http/errors.ts";
import { documentHeaders, functionErrors, repeatedCookie } from "./http/global-middleware.ts";

// With a start file the framework's own check of the origin is gone: this one puts it back.
const csrf = createCsrfMiddleware({ filter: (ctx) => ctx.handlerType === "serverFn" });

export const startInstance = createStart(() => ({
  requestMiddleware: [documentHeaders, csrf, repeatedCookie],
  functionMiddleware: [functionErrors],
  serializationAdapters: [errorAdapter],
}));
