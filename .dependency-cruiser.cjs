// Imports point one way: apps → packages, core → db, the browser only into schemas. See ARCHITECTURE.md.

/** Files of `from` must not import files of `to`. Paths are regular expressions; `$1` in `to` is a group of `from.path`. */
const forbid = (name, comment, from, to) => ({ name, comment, severity: "error", from, to });

const tests = "\\.test\\.tsx?$";

/** Schemas of core: data without verbs, for browsers and packages below core. */
const coreSchemas = "^packages/core/src/[^/]+/[^/]+\\.schema\\.ts$";
/** How keys look and are hashed, which core shares with the gateway. */
const credentials = "^packages/auth/src/credentials/";
/** What a build's manifest contains. */
const manifest = "^packages/mcp/src/manifest/";
/** How a portal names what its servers offer, which core shows and the gateway serves. */
const portals = "^packages/mcp/src/portal/";
/** The variables that a source tree names, without a build. */
const declaredVariables = "^packages/builder/src/plan/declared-variables\\.ts$";
/** Where a server listens, which the driver port and the runner's contract share. */
const endpoints = "^packages/runner-api/src/endpoint\\.ts$";
/** Names of processes, by which what killed ones left is found. */
const processes = "^packages/runtime/src/process/process-name\\.ts$";

/**
 * Which of our packages each one may import: a name or a pattern. apps/web may import all on the server; what its browser
 * code may not import is in its vite.config.ts.
 */
const allowedPackages = {
  "packages/core": ["db", "crypto", "limits", "secrets", credentials, manifest, portals],
  "packages/runner-api": ["crypto", coreSchemas],
  "packages/chat": [coreSchemas, "mcp", "secrets"],
  "packages/queue": ["core", "db"],
  "packages/mail": ["core", "crypto", "db"],
  "packages/builder": ["core", "runtime", "mcp", "artifacts"],
  "packages/artifacts": ["db", "runtime"],
  "packages/auth": ["db", "crypto"],
  "packages/github": ["core", "crypto"],
  "packages/git": ["core", "crypto", "db", "egress", "artifacts", processes],
  "packages/logs": ["db", coreSchemas],
  "packages/runtime": [endpoints],
  "packages/mcp": ["egress"],
  "packages/crypto": [],
  "packages/egress": [],
  "packages/secrets": ["crypto", "db"],
  "packages/role": [],
  "packages/limits": [],
  "packages/package-index": ["core"],
  "packages/db": [],
  "apps/gateway": ["db", "auth", "crypto", "egress", "limits", "secrets", "mcp", "logs", "role", "runner-api"],
  "apps/runner": ["core", "db", "secrets", "logs", "runtime", "artifacts", "role", "runner-api"],
  "apps/worker": [
    ...["core", "db", "secrets", "logs", "runtime", "artifacts", "builder", "git", "github", "mail", "queue", "role"],
    ...["egress", "mcp", "package-index", "runner-api"],
  ],
  "apps/cli": ["auth", "db", "git", "mcp", "secrets", coreSchemas, declaredVariables, "role", "runner-api"],
};

const patternOf = (allowed) => (allowed.startsWith("^") ? allowed : `^packages/${allowed}/`);

const packageRules = Object.entries(allowedPackages).map(([directory, allowed]) =>
  forbid(
    `${directory.replace(/^packages\//, "").replace("/", "-")}-imports`,
    `${directory} may import of our packages only: ${allowed.join(", ") || "none"}.`,
    { path: `^${directory}/`, pathNot: `${tests}|/testing/|/test/` },
    { path: "^packages/", pathNot: [`^${directory}/`, ...allowed.map(patternOf)].join("|") },
  ),
);

module.exports = {
  forbidden: [
    ...packageRules,
    forbid(
      "core-entities-use-entry-points",
      "Entities of core import each other's index.ts (verbs, exported from the package), internal.ts (shared with other " +
        "entities, without authorization and not exported) and schemas.",
      { path: "^packages/core/src/([^/]+)/", pathNot: `${tests}|/testing/` },
      { path: "^packages/core/src/", pathNot: "^packages/core/src/$1/|/(index|internal)\\.ts$|\\.schema\\.ts$" },
    ),
    forbid(
      "packages-do-not-import-apps",
      "Code that two processes share belongs in a package.",
      { path: "^packages/" },
      { path: "^apps/" },
    ),
    forbid(
      "the-product-imports-no-stand-in",
      "Tests start the stand-in for GitHub; the product knows GitHub only.",
      { path: "^(packages|apps)/", pathNot: `${tests}|/testing/` },
      { path: "^tests/" },
    ),
    forbid(
      "apps-do-not-import-each-other",
      "Processes talk over sockets, queues and the database.",
      { path: "^apps/([^/]+)/", pathNot: tests },
      { path: "^apps/", pathNot: "^apps/$1/" },
    ),
    forbid(
      "no-deep-imports",
      "Packages are entered through their exports.",
      { path: "^(packages|apps)/([^/]+)/" },
      { path: "^packages/([^/]+)/", pathNot: "^$1/$2/", dependencyTypes: ["local"] },
    ),
    forbid(
      "runner-api-users",
      "Only the runner and its callers use its API. Other code asks the database or the gateway.",
      {
        path: "^(packages|apps)/",
        pathNot: "^(packages/runner-api|apps/(gateway|worker|runner|cli/src/up|web/(src/[^/]+\\.server|testing/site)))",
      },
      { path: "^packages/runner-api/", pathNot: endpoints },
    ),
    forbid(
      "gateway-has-no-verbs",
      "The data plane must keep working without the control plane.",
      { path: "^apps/gateway/", pathNot: tests },
      { path: "^packages/core/" },
    ),
    forbid(
      "worker-layers",
      "main → compose → jobs → rollout.",
      { path: "^apps/worker/src/(jobs|rollout)/", pathNot: tests },
      { path: "^apps/worker/src/(main|compose)\\.ts$" },
    ),
    forbid(
      "worker-rollout-knows-no-jobs",
      "Jobs call a rollout and pass it what it needs.",
      { path: "^apps/worker/src/rollout/", pathNot: tests },
      { path: "^apps/worker/src/jobs/" },
    ),
    forbid(
      "web-layers",
      "The web app imports one way: routes, then features, then http, then ui. Type-only imports count too.",
      { path: "^apps/web/src/(features|http|ui)/", pathNot: tests },
      { path: "^apps/web/src/(routes/|router\\.tsx$|routeTree)" },
    ),
    forbid(
      "web-http-and-ui-know-no-features",
      "Features pass what a request handler or a widget needs of them.",
      { path: "^apps/web/src/(http/|ui/|[^/]+\\.server\\.ts$)", pathNot: tests },
      { path: "^apps/web/src/features/" },
    ),
    forbid(
      "web-ui-is-presentation-only",
      "Widgets work on any page: they know neither requests nor the domain.",
      { path: "^apps/web/src/ui/", pathNot: tests },
      { path: "^apps/web/src/(?!ui/)|^packages/" },
    ),
    forbid(
      "no-cycles",
      "A cycle hides which of two files owns something.",
      {},
      { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    ),
    forbid(
      "no-type-cycles",
      "In core and web, types must not form cycles either.",
      { path: "^(packages/core|apps/web)/src/" },
      { circular: true },
    ),
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "(^|/)dist/|\\.gen\\.ts$" },
    parser: "swc",
    tsConfig: { fileName: "apps/web/tsconfig.json" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "types", "default"] },
  },
};
