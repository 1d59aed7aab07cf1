import { createCsrfMiddleware, createStart } from "@tanstack/react-start";
import { documentHeaders } from "./http/document-headers.ts";
import { errorAdapter } from "./http/error-adapter.ts";
import { functionErrors } from "./http/function-errors.ts";
import { repeatedCookie } from "./http/repeated-cookie.ts";

// With a start file the framework's own check of the origin is gone: this one puts it back.
const csrf = createCsrfMiddleware({ filter: (ctx) => ctx.handlerType === "serverFn" });

export const startInstance = createStart(() => ({
  requestMiddleware: [documentHeaders, csrf, repeatedCookie],
  functionMiddleware: [functionErrors],
  serializationAdapters: [errorAdapter],
}));
