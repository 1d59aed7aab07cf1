import {
  callerValuesViewSchema,
  deleteCallerValue,
  readCallerValues,
  setCallerValues,
  valueCheckSchema,
} from "@towpath/core/projects/caller-value";
import { setCallerValuesSchema } from "@towpath/core/projects/caller-value/schema";
import { services } from "~/compose.server.ts";
import { type Operation, operation } from "~/http/rest/operation.server.ts";

import { checkCallerValues } from "./check-values.server.ts";

/** Of a body with a value of 64 KiB, however it is escaped. */
const maxBodyBytes = 512 * 1024;

/** A person's own values of a server's variables; a personal key acts as its person (CAP-1). */
export const callerValueOperations: readonly Operation[] = [
  operation("GET /projects/{name}/my-values", "readCallerValues", "project.read", {
    summary: "what it asks each caller for, and what you have set; never a value",
    answer: callerValuesViewSchema,
    handle: ({ ctx, project }) => readCallerValues({ ctx, input: { projectId: project.id } }),
  }),
  operation("PATCH /projects/{name}/my-values", "setCallerValues", "project.read", {
    summary: "sets values of yours (`values`), all or none",
    body: setCallerValuesSchema,
    maxBodyBytes,
    answer: callerValuesViewSchema,
    handle: ({ ctx, project, body }) => setCallerValues({ ctx, input: { ...body, projectId: project.id } }),
  }),
  operation("DELETE /projects/{name}/my-values/{keyName}", "deleteCallerValue", "project.read", {
    summary: "deletes a value of yours",
    answer: callerValuesViewSchema,
    handle: ({ ctx, params, project }) =>
      deleteCallerValue({ ctx, input: { projectId: project.id, keyName: params.keyName } }),
  }),
  operation("POST /projects/{name}/my-values/check", "checkCallerValues", "project.read", {
    summary: "calls the tool that its owner named with your values, in your own instance",
    answer: valueCheckSchema,
    handle: ({ ctx, project, orgSlug }) =>
      checkCallerValues({ ctx, keys: services().signingKeys, input: { orgSlug, projectName: project.name } }),
  }),
];
