import { useRouteContext } from "@tanstack/react-router";
import type { Permission } from "@towpath/core/authorize";

/**
 * Whether the person's role in this organization allows something: what it doesn't is not offered. Works on pages below
 * `/$orgSlug`. The server functions check it again.
 */
export const useMay = (permission: Permission): boolean =>
  useRouteContext({ from: "/$orgSlug", select: ({ organization }) => organization.permissions.includes(permission) });
