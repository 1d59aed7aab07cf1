import type { LinkProps } from "@tanstack/react-router";

const ofProject = "/$orgSlug/$projectName";
const ofSettings = "/$orgSlug/settings";

/** Other words that find a screen in the palette, by its route. */
const words: Readonly<Record<string, readonly string[]>> = {
  [`${ofProject}/inspector`]: ["call a tool"],
  [`${ofProject}/chat`]: ["ask", "model", "assistant"],
  [`${ofProject}/surface`]: ["tools", "resources", "templates", "prompts", "usage"],
  [`${ofProject}/logs`]: ["requests", "calls"],
  [`${ofProject}/errors`]: ["failures", "exceptions"],
  [`${ofProject}/users`]: ["callers"],
  [`${ofProject}/server-logs`]: ["stdout", "stderr", "print"],
  [`${ofProject}/sign-ins`]: ["oauth"],
  [`${ofProject}/deployments`]: ["builds", "previews", "branches"],
  [`${ofProject}/code`]: ["files", "edit", "commit", "repository"],
  [`${ofProject}/settings`]: ["environment variables", "entrypoint", "delete"],
  [`${ofProject}/access`]: ["roles", "permissions"],
  [`${ofProject}/limits`]: ["rate"],
  [`${ofProject}/admin-jwt`]: ["token"],
  [`${ofSettings}/api-keys`]: ["token", "workload", "cluster", "identity provider", "company sign-in"],
  [`${ofSettings}/github`]: ["connect", "repositories"],
  [`${ofSettings}/alerts`]: ["Slack", "webhook", "mail"],
  [`${ofSettings}/members`]: ["invite", "people", "team", "roles"],
  [`${ofSettings}/audit-log`]: ["history", "who changed", "export"],
  [`${ofSettings}/general`]: ["name", "address", "delete organization"],
  [`${ofSettings}/instance`]: ["isolation", "disk"],
  [`${ofSettings}/profile`]: ["name", "email"],
  [`${ofSettings}/security`]: ["password", "two-factor", "authenticator", "connected apps"],
  [`${ofSettings}/my-values`]: ["own key", "token", "per caller"],
  [`${ofSettings}/sessions`]: ["sign out everywhere", "devices"],
  [`${ofSettings}/preferences`]: ["theme", "dark", "light"],
  "/docs": ["docs", "guide", "manual"],
};

export const wordsOf = ({ to }: Pick<LinkProps, "to">): readonly string[] => words[to ?? ""] ?? [];
