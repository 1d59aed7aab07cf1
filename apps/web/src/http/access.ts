import { createMiddleware } from "@tanstack/react-start";
import { authorize, authorizeProject, type Permission, withAccess } from "@towpath/core/authorize";
import { authorizeBuild } from "@towpath/core/delivery/build";
import { TowpathError } from "@towpath/core/errors";
import { currentSession, signedInContext } from "./caller.server.ts";

// Every server function starts with one of these middlewares, and every handler of an HTTP route is wrapped in
// `withPermission` or `withoutPermission`: they say who may call. Being signed in is not a permission: everything that
// belongs to an organization names one from the matrix in core/authorize, or testing/entry-points.test.ts fails. The
// verb that a server function calls checks its own permission too, without reading the access again (`withAccess`).

/** Anyone may call. `context.signedIn` is the caller, or null. */
export const publicAccess = createMiddleware({ type: "function" }).server(async ({ next }) => {
  return next({ context: { signedIn: await currentSession() } });
});

/** Signed-in users, acting on their own account. `context.ctx` acts for the user. */
export const selfAccess = createMiddleware({ type: "function" }).server(async ({ next }) => {
  return next({ context: await signedInContext() });
});

/**
 * Members of the organization `data.orgSlug` whose role has the permission. Sets `context.organization`.
 * The function's own validator must keep `orgSlug` if its handler reads it from `data`.
 */
export const organizationAccess = (permission: Permission) =>
  createMiddleware({ type: "function" })
    .validator((data: { readonly orgSlug: string }) => ({ ...data, orgSlug: text(data, "orgSlug") }))
    .server(async ({ next, data }) => {
      const context = await signedInContext();
      const access = await authorize(context.ctx, permission, { orgSlug: data.orgSlug });
      return next({ context: { ...context, ...access, ctx: withAccess(context.ctx, access) } });
    });

/** The same for the organization `data.organizationId`. */
export const organizationIdAccess = (permission: Permission) =>
  createMiddleware({ type: "function" })
    .validator((data: { readonly organizationId: string }) => ({
      ...data,
      organizationId: text(data, "organizationId"),
    }))
    .server(async ({ next, data }) => {
      const context = await signedInContext();
      const access = await authorize(context.ctx, permission, { organizationId: data.organizationId });
      return next({ context: { ...context, ...access, ctx: withAccess(context.ctx, access) } });
    });

/** The same for the project `data.projectName` of the organization. Sets `context.project` to its row. */
export const projectAccess = (permission: Permission) =>
  createMiddleware({ type: "function" })
    .validator((data: { readonly orgSlug: string; readonly projectName: string }) => ({
      ...data,
      orgSlug: text(data, "orgSlug"),
      projectName: text(data, "projectName"),
    }))
    .server(async ({ next, data }) => {
      const context = await signedInContext();
      const access = await authorizeProject(context.ctx, permission, data);
      return next({ context: { ...context, ...access, ctx: withAccess(context.ctx, access) } });
    });

/** The same for the project of the build `data.buildId`. */
export const buildAccess = (permission: Permission) =>
  createMiddleware({ type: "function" })
    .validator((data: { readonly buildId: string }) => ({ ...data, buildId: text(data, "buildId") }))
    .server(async ({ next, data }) => {
      const context = await signedInContext();
      const access = await authorizeBuild(context.ctx, permission, data.buildId);
      return next({ context: { ...context, ...access, ctx: withAccess(context.ctx, access) } });
    });

/** Middleware runs before the function's own validator, so it must let only strings reach SQL. */
function text(data: unknown, key: string): string {
  const value = typeof data === "object" && data !== null ? (data as Record<string, unknown>)[key] : undefined;
  if (typeof value === "string" && value !== "") return value;
  throw new TowpathError("invalid_input", `${key} is required`, { fields: { [key]: "Required" } });
}

/** Why an HTTP route checks no permission of the matrix in `core/authorize`. */
type NoPermission =
  /** Anyone may call it. */
  | "public"
  /** It acts only on the caller's own session or account. */
  | "self"
  /** The sender signs the body. */
  | "signature"
  /** Only with the operator token: for accounts, which belong to no organization. */
  | "operator"
  /** Each operation of the REST API names its own: see `surfaces.server.ts`. */
  | "operation";

/** A route handler that checks no permission, with the reason. */
export const withoutPermission = <Handler>(_reason: NoPermission, handler: Handler): Handler => handler;
