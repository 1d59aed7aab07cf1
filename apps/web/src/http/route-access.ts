import type { Permission } from "@towpath/core/authorize";

/** Why an HTTP route checks no permission of the matrix in `core/authorize`. The list is closed. */
type NoPermission =
  /** Anyone may call it. */
  | "public"
  /** It acts on the caller's own session or account only. */
  | "self"
  /** The sender proves itself by a signature of the body. */
  | "signature";

// Every handler of a route is wrapped in one of these two; testing/entry-points.test.ts fails for one that is not.

/** A route handler that checks a permission: `handler` makes it from the permission that it has to check. */
export const withPermission = <Handler>(
  permission: Permission,
  handler: (permission: Permission) => Handler,
): Handler => handler(permission);

/** A route handler that checks no permission, and why. */
export const withoutPermission = <Handler>(_reason: NoPermission, handler: Handler): Handler => handler;
