import { createMiddleware } from "@tanstack/react-start";
import { authorize, authorizeProject, type Permission, withAccess } from "@towpath/core/authorize";
import { authorizeBuild } from "@towpath/core/build";
import { TowpathError } from "@towpath/core/errors";
import { currentSession, signedInContext } from "./caller.server.ts";

// Every server function names one of these middlewares: it says who may call. "Signed in" is no permission: whatever
// belongs to an organization names one of the matrix in core/authorize. testing/entry-points.test.ts checks it. The verb
// that the handler calls checks its own permission too, without reading the access again (`withAccess`).

/** Anybody may call; `context.signedIn` says who does, or null. */
export const publicAccess = createMiddleware({ type: "function" }).server(async ({ next }) => {
  return next({ context: { signedIn: await currentSession() } });
});

/** For what a user does with their own account; `context.ctx` is what verbs take and acts for them. */
export const selfAccess = createMiddleware({ type: "function" }).server(async ({ next }) => {
  return next({ context: await signedInContext() });
});

/**
 * Members of the organization `data.orgSlug` whose role carries the permission; `context.organization` is it.
 * The function's own validator must keep `orgSlug` when its handler reads it from `data`.
 */
export const organizationAccess = (permission: Permission) =>
  createMiddleware({ type: "function" })
    .validator((data: { readonly orgSlug: string }) => ({ ...data, orgSlug: text(data, "orgSlug") }))
    .server(async ({ next, data }) => {
      const context = await signedInContext();
      const access = await authorize(context.ctx, permission, { orgSlug: data.orgSlug });
      return next({ context: { ...context, ...access, ctx: withAccess(context.ctx, access) } });
    });

/** The same for a project, by `data.orgSlug` and `data.projectName`; `context.project` is its row. */
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

/** Middleware runs before the function's own validator: anything but a string must not reach SQL. */
function text(data: unknown, key: string): string {
  const value = typeof data === "object" && data !== null ? (data as Record<string, unknown>)[key] : undefined;
  if (typeof value === "string" && value !== "") return value;
  throw new TowpathError("invalid_input", `${key} is required`, { fields: { [key]: "Required" } });
}
