import { getAccess, saveAccess } from "@towpath/core/calling/access";
import { accessSchema } from "@towpath/core/calling/access/schema";
import { clearAdminJwtCache, getAdminJwt, getAdminJwtCacheStats } from "@towpath/core/calling/admin-jwt";
import { getCallLimits, saveCallLimits } from "@towpath/core/calling/call-limit";
import { callLimitSchema } from "@towpath/core/calling/call-limit/schema";
import { createPortal, getPortal, listPortals, updatePortal } from "@towpath/core/projects/portal";
import { createPortalSchema, updatePortalSchema } from "@towpath/core/projects/portal/schema";
import { createSecret, deleteSecret, listSecrets, setSecrets, updateSecret } from "@towpath/core/projects/secret";
import { createSecretSchema, setSecretsSchema, updateSecretSchema } from "@towpath/core/projects/secret/schema";
import { answers } from "~/features/shared/answers/answers.server.ts";
import { type Operation, operation } from "~/http/rest/operation.server.ts";

/** Of a body with a value of 64 KiB, however it is escaped. */
const maxSecretBodyBytes = 512 * 1024;

/** Variables of a server. Values are read in the dashboard only, where a person is named in the audit log. */
const secretOperations: readonly Operation[] = [
  operation("GET /projects/{name}/secrets", "listSecrets", "secret.read", {
    summary: "its variables, never their values",
    answer: answers.variables,
    handle: async ({ ctx, project }) => ({ data: await listSecrets({ ctx, input: { projectId: project.id } }) }),
  }),
  operation("POST /projects/{name}/secrets", "createSecret", "secret.manage", {
    summary: "creates a variable",
    body: createSecretSchema,
    maxBodyBytes: maxSecretBodyBytes,
    answer: answers.variable,
    handle: ({ ctx, project, body }) => createSecret({ ctx, input: { ...body, projectId: project.id } }),
  }),
  operation("PATCH /projects/{name}/secrets", "saveSecrets", "secret.manage", {
    summary: "creates or changes variables (`secrets`), all or none",
    body: setSecretsSchema,
    maxBodyBytes: maxSecretBodyBytes,
    answer: answers.variables,
    handle: async ({ ctx, project, body }) => ({
      data: await setSecrets({ ctx, input: { ...body, projectId: project.id } }),
    }),
  }),
  operation("PATCH /projects/{name}/secrets/{keyName}", "updateSecret", "secret.manage", {
    summary: "changes what is given of a variable",
    body: updateSecretSchema.omit({ keyName: true }),
    maxBodyBytes: maxSecretBodyBytes,
    answer: answers.variable,
    handle: ({ ctx, params, project, body }) =>
      updateSecret({ ctx, input: { ...body, projectId: project.id, keyName: params.keyName } }),
  }),
  operation("DELETE /projects/{name}/secrets/{keyName}", "deleteSecret", "secret.manage", {
    summary: "deletes a variable",
    answer: answers.deleted,
    handle: ({ ctx, params, project }) =>
      deleteSecret({ ctx, input: { projectId: project.id, keyName: params.keyName } }),
  }),
];

const portalOperations: readonly Operation[] = [
  operation("GET /organizations/{slug}/portals", "listPortals", "project.read", {
    summary: "portals, with their servers",
    answer: answers.portals,
    handle: ({ ctx, orgSlug }) => listPortals({ ctx, input: { orgSlug } }),
  }),
  operation("POST /organizations/{slug}/portals", "createPortal", "project.create", {
    summary: "creates a portal",
    body: createPortalSchema,
    answer: answers.createdPortal,
    handle: ({ ctx, orgSlug, body }) => createPortal({ ctx, input: { ...body, orgSlug } }),
  }),
  operation("GET /projects/{name}/portal", "readPortal", "build.read", {
    summary: "a portal's servers, and what it offers of each",
    answer: answers.portal,
    handle: ({ ctx, project }) => getPortal({ ctx, input: { projectId: project.id } }),
  }),
  operation("PATCH /projects/{name}/portal", "updatePortal", "project.update", {
    summary: "changes its `servers` (all of them) or `instructions`",
    body: updatePortalSchema,
    answer: answers.portal,
    handle: ({ ctx, project, body }) => updatePortal({ ctx, input: { ...body, projectId: project.id } }),
  }),
];

/** Settings of a server: callers, limits, variables, admin JWTs, the servers of a portal. */
export const settingOperations: readonly Operation[] = [
  operation("GET /projects/{name}/access", "readAccess", "access.read", {
    summary: "who may call, and which tools",
    answer: answers.access,
    handle: ({ ctx, project }) => getAccess({ ctx, input: { projectId: project.id } }),
  }),
  operation("PUT /projects/{name}/access", "saveAccess", "access.manage", {
    summary: "replaces it",
    body: accessSchema,
    answer: answers.access,
    handle: ({ ctx, project, body }) => saveAccess({ ctx, input: { ...body, projectId: project.id } }),
  }),
  operation("GET /projects/{name}/limits", "readLimits", "project.read", {
    summary: "how much it may be called",
    answer: answers.limits,
    handle: ({ ctx, project }) => getCallLimits({ ctx, input: { projectId: project.id } }),
  }),
  operation("PUT /projects/{name}/limits", "saveLimits", "limit.manage", {
    summary: "replaces that",
    body: callLimitSchema,
    answer: answers.limits,
    handle: ({ ctx, project, body }) => saveCallLimits({ ctx, input: { ...body, projectId: project.id } }),
  }),
  ...secretOperations,
  operation("POST /projects/{name}/admin-jwt", "issueAdminJwt", "adminJwt.manage", {
    summary: "an admin JWT, from the cache or newly signed",
    answer: answers.adminJwt,
    handle: ({ ctx, project }) => getAdminJwt({ ctx, input: { projectId: project.id } }),
  }),
  operation("GET /projects/{name}/admin-jwt", "readAdminJwtCache", "adminJwt.manage", {
    summary: "statistics of the cache",
    answer: answers.adminJwtCache,
    handle: ({ ctx, project }) => getAdminJwtCacheStats({ ctx, input: { projectId: project.id } }),
  }),
  operation("DELETE /projects/{name}/admin-jwt", "clearAdminJwtCache", "adminJwt.manage", {
    summary: "revokes all admin JWTs and clears the cache",
    answer: answers.adminJwtCache,
    handle: ({ ctx, project }) => clearAdminJwtCache({ ctx, input: { projectId: project.id } }),
  }),
  ...portalOperations,
];
