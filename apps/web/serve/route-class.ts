/** What kind of request a path is, for metrics and traces: few enough for labels, and without names of tenants. */
export type RouteClass =
  | "asset"
  | "function"
  | "git"
  | "health"
  | "oauth"
  | "other-api"
  | "page"
  | "rest"
  | "sign-in"
  | "stream"
  | "webhook";

/** The first that fits. */
const classes: readonly (readonly [path: RegExp, name: RouteClass])[] = [
  [/^\/healthz$/, "health"],
  [/^\/_serverFn\//, "function"],
  [/^\/api\/v1\//, "rest"],
  [/^\/git\//, "git"],
  [/^\/api\/(?:github\/webhooks|sources\/[^/]+\/webhook$)/, "webhook"],
  [/^\/(?:oauth|\.well-known)\//, "oauth"],
  [/^\/(?:login|logout|signup|provider|api\/auth)(?:\/|$)/, "sign-in"],
  // They are open for as long as somebody reads them.
  [/^\/api\/(?:builds|deployments)\/[^/]+\/log$/, "stream"],
  [/^\/api\/projects\/[^/]+\/[^/]+\/(?:chat|mcp|request-log-changes)$/, "stream"],
  [/^\/api\//, "other-api"],
  [/^\/assets\/|\.(?:css|ico|js|png|svg|webp|woff2)$/, "asset"],
];

export const routeClassOf = (path: string): RouteClass => classes.find(([of]) => of.test(path))?.[1] ?? "page";
