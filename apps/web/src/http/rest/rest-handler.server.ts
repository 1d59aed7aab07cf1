import { z } from "zod";
import { services } from "~/compose.server.ts";
import { dispatch } from "./dispatch.server.ts";
import { openApiDocument } from "./openapi.server.ts";
import { type Operation, operation } from "./operation.server.ts";

/** Handles requests below `/api/v1`: the operations given, and the document about them. */
export function restHandler(given: readonly Operation[]): (call: { readonly request: Request }) => Promise<Response> {
  const document: Operation = operation("GET /openapi.json", "readOpenApi", "public", {
    summary: "this API as OpenAPI 3.1",
    answer: z.record(z.string(), z.unknown()),
    handle: async () => openApiDocument(operations, services().config.baseUrl),
  });
  const operations: readonly Operation[] = [...given, document];
  return ({ request }) => dispatch(request, operations);
}
