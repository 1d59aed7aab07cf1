import { changeErrorGroups, getErrorGroup, listErrorGroups } from "@towpath/core/operations/error-group";
import {
  errorChangeSchema,
  errorChangesSchema,
  errorDetailSchema,
  errorListSchema,
  errorPageSchema,
  errorSummarySchema,
} from "@towpath/core/operations/error-group/schema";
import { z } from "zod";
import { named } from "~/http/rest/answer-names.ts";
import { type Operation, operation } from "~/http/rest/operation.server.ts";

named("ServerError", errorSummarySchema);
const detail = named("ServerErrorDetail", errorDetailSchema);

/** Failed calls by cause (CAP-6). */
export const errorOperations: readonly Operation[] = [
  operation("GET /projects/{name}/errors", "listErrors", "project.read", {
    summary: "failed calls, grouped by tool, exception and the frame of the server's own code that raised it",
    query: errorListSchema,
    answer: errorPageSchema,
    handle: ({ ctx, project, query }) => listErrorGroups({ ctx, input: { ...query, projectId: project.id } }),
  }),
  operation("GET /projects/{name}/errors/{errorId}", "readError", "project.read", {
    summary: "one of them, with its callers, clients and the newest calls",
    answer: detail,
    handle: ({ ctx, project, params: { errorId } }) =>
      getErrorGroup({ ctx, input: { errorId, projectId: project.id } }),
  }),
  operation("PATCH /projects/{name}/errors/{errorId}", "changeError", "project.update", {
    summary: "resolves, ignores or reopens it by `state`",
    body: errorChangeSchema,
    answer: detail,
    handle: async ({ ctx, project, params: { errorId }, body: { state } }) => {
      await changeErrorGroups({ ctx, input: { ids: [errorId], state, projectId: project.id } });
      return getErrorGroup({ ctx, input: { errorId, projectId: project.id } });
    },
  }),
  operation("PATCH /projects/{name}/errors", "changeErrors", "project.update", {
    summary: "resolves, ignores or reopens all with these `ids`, or none",
    body: errorChangesSchema,
    answer: z.object({ changed: z.number().int() }),
    handle: ({ ctx, project, body }) => changeErrorGroups({ ctx, input: { ...body, projectId: project.id } }),
  }),
];
