// Imports point one way: apps → packages, core → db, the browser only into schemas. See ARCHITECTURE.md.

/** Files of `from` must not import files of `to`. Paths are regular expressions; `$1` in `to` is a group of `from.path`. */
const forbid = (name, comment, from, to) => ({ name, comment, severity: "error", from, to });

const tests = "\\.test\\.tsx?$";

/** An entity of core in its group, or what all entities build on, which is in none. */
const coreEntity = "(?:(?:tenancy|projects|sources|delivery|calling|operations)/)?[^/]+";
/** Schemas of core: data without verbs, for browsers and packages below core. */
const coreSchemas = `^packages/core/src/${coreEntity}/[^/]+\\.schema\\.ts$`;
/** How keys look and are hashed, which core shares with the gateway. */
const credentials = "^packages/auth/src/credentials/";
/** What a build's manifest contains. */
const manifest = "^packages/mcp/src/manifest/";
/** How a portal names what its servers offer, which core shows and the gateway serves. */
const portals = "^packages/mcp/src/portal/";
/** The variables that a source tree names, without a build. */
const declaredVariables = "^packages/builder/src/source/declared-variables\\.ts$";
/** Where a server listens, which the driver port and the runner's contract share. */
const endpoints = "^packages/runner-api/src/endpoint\\.ts$";
/** Which models people may chat with. */
const chatConfig = "^packages/chat/src/config\\.ts$";
/** The trace of what is under way, which follows it from process to process. */
const trace = "^packages/telemetry/src/tracing/trace\\.ts$";
/** How what killed processes left is found by their names, and what a power cut takes. */
const processes = "^packages/runtime/src/host/process/(process-name|boot-directory|sync-path)\\.ts$";

/**
 * Which of our packages each one may import: a name or a pattern. apps/web may import all on the server; what its browser
 * code may not import is in its vite.config.ts.
 */
const allowedPackages = {
  "packages/core": ["db", "crypto", "limits", "replay", "secrets", credentials, manifest, portals, trace],
  "packages/runner-api": ["crypto", coreSchemas, trace],
  "packages/chat": [coreSchemas, "mcp", "secrets"],
  "packages/queue": ["core", "db", trace],
  "packages/mail": ["core", "crypto", "db"],
  "packages/builder": ["core", "runtime", "mcp", "artifacts", trace],
  "packages/artifacts": ["db", "runtime"],
  "packages/backup": ["artifacts", "crypto", "db", "git", "runtime"],
  "packages/auth": ["db", "crypto", "egress"],
  "packages/github": ["core", "crypto"],
  "packages/git": ["core", "crypto", "db", "egress", "artifacts", processes],
  "packages/logs": ["db", coreSchemas],
  "packages/runtime": ["crypto", endpoints, coreSchemas],
  "packages/mcp": ["egress"],
  "packages/crypto": [],
  "packages/egress": [],
  "packages/secrets": ["crypto", "db"],
  "packages/role": [],
  "packages/telemetry": [],
  "packages/limits": [],
  "packages/replay": [],
  "packages/package-index": ["core"],
  "packages/db": [],
  "packages/export": ["core"],
  "apps/gateway": [
    ...[
      "db",
      "artifacts",
      "auth",
      "crypto",
      "egress",
      "limits",
      "secrets",
      "mcp",
      "logs",
      "role",
      "runner-api",
      "telemetry",
    ],
  ],
  "apps/runner": ["core", "db", "secrets", "logs", "runtime", "artifacts", "role", "runner-api", "telemetry"],
  "apps/worker": [
    ...["core", "db", "secrets", "logs", "runtime", "artifacts", "builder", "git", "github", "mail", "queue", "role"],
    ...["backup", "chat", "egress", "mcp", "package-index", "replay", "runner-api", "telemetry", credentials],
  ],
  "apps/cli": [
    ...["auth", "backup", "crypto", "db", "export", "git", "mcp", "queue", "role", "secrets", coreSchemas],
    declaredVariables,
    // doctor tries what an instance is set to use.
    ...["artifacts", "github", "mail", "runner-api", "runtime", chatConfig],
  ],
};

/**
 * The groups of features of apps/web, and the features in them, from the bottom: each may import those before it. What two
 * need of each other belongs to a third below them.
 */
const webFeatures = Object.entries({
  shared: [
    "answers",
    "error-reporting",
    "log-stream",
    "picture",
    "session",
    "error-screens",
    "project-screen",
    "saved-views",
  ],
  account: ["sign-in", "oauth", "account", "caller-values", "invitations"],
  organization: [
    "audit-log",
    "github",
    "instance",
    "organization-settings",
    "servers",
    "api-keys",
    "members",
    "alerts",
  ],
  onboarding: ["upload", "server-form", "external-server", "package", "server-registry", "source", "welcome"],
  project: [
    ...["admin-jwt", "badge", "delivery", "release", "clients", "code", "access", "portals", "build", "deployment"],
    ...["server-log", "export", "settings", "request-log", "errors", "analytics", "limits", "overview", "sign-ins"],
  ],
  inspector: ["conversation", "inspector", "chat", "surface", "replay"],
  site: ["social-image", "public-site", "blog", "docs", "registry", "status-page", "landing", "site-map"],
  shell: ["navigation", "command-palette", "app-shell"],
}).flatMap(([group, features]) => features.map((feature) => `${group}/${feature}`));

const patternOf = (allowed) => (allowed.startsWith("^") ? allowed : `^packages/${allowed}/`);

const packageRules = Object.entries(allowedPackages).map(([directory, allowed]) =>
  forbid(
    `${directory.replace(/^packages\//, "").replace("/", "-")}-imports`,
    `${directory} may import of our packages only: ${allowed.join(", ") || "none"}.`,
    { path: `^${directory}/`, pathNot: `${tests}|/testing/|/test/` },
    { path: "^packages/", pathNot: [`^${directory}/`, ...allowed.map(patternOf)].join("|") },
  ),
);

/** Directories of the builder, each of which may import those before it. */
const builderSteps = ["fetch", "source", "plan", "install", "inspect", "diagnose", "fix", "attempts"];
/** What puts them together. */
const builder = "^packages/builder/src/(build|make-layers|plan-source|plan-worker|report)\\.ts$";

const builderRules = builderSteps.map((step, index) => {
  const later = builderSteps.slice(index + 1).map((each) => `^packages/builder/src/${each}/`);
  const earlier = builderSteps.slice(0, index).join(", ") || "none";
  return forbid(
    `builder-${step}-imports`,
    `Steps of the builder import only those before them: ${earlier}.`,
    { path: `^packages/builder/src/${step}/`, pathNot: tests },
    { path: [builder, ...later].join("|") },
  );
});

module.exports = {
  forbidden: [
    ...packageRules,
    ...builderRules,
    forbid(
      "builder-plans-start-nothing",
      "A plan is a pure function of what the source says.",
      { path: "^packages/builder/src/plan/", pathNot: tests },
      { path: "^(node:)?(child_process|fs|http|https|net|worker_threads)(/|$)|^packages/runtime/" },
    ),
    forbid(
      "core-entities-use-entry-points",
      "Entities of core import each other's index.ts (verbs, exported from the package), internal.ts (shared with other " +
        "entities, without authorization and not exported) and schemas.",
      { path: `^packages/core/src/(${coreEntity})/`, pathNot: `${tests}|/testing/` },
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
      "driver-ports-know-no-driver",
      "A second driver implements the same ports.",
      { path: "^packages/runtime/src/port/" },
      { path: "^packages/runtime/src/(?!port/)" },
    ),
    forbid(
      "runner-api-users",
      "Only the runner and its callers use its API. Other code asks the database or the gateway.",
      {
        path: "^(packages|apps)/",
        pathNot:
          "^(packages/runner-api|apps/(gateway|worker|runner|cli/src/(up|doctor)|web/(src/[^/]+\\.server|testing/site)))",
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
      { path: "^apps/web/src/(routes/|router\\.tsx$|routeTree|surfaces)" },
    ),
    forbid(
      "web-http-and-ui-know-no-features",
      "Features pass what a request handler or a widget needs of them; surfaces.server.ts registers their REST operations.",
      { path: "^apps/web/src/(http/|ui/|[^/]+\\.server\\.ts$)", pathNot: `${tests}|/surfaces\\.server\\.ts$` },
      { path: "^apps/web/src/features/" },
    ),
    forbid(
      "web-features-are-listed",
      "Each feature has its place in the order of this file.",
      { path: "^apps/web/src/features/", pathNot: `^apps/web/src/features/(${webFeatures.join("|")})/` },
      {},
    ),
    ...webFeatures.map((feature, at) =>
      forbid(
        `web-${feature.replace("/", "-")}-imports`,
        "Features import one way, in the order of this file.",
        { path: `^apps/web/src/features/${feature}/`, pathNot: tests },
        {
          path: "^apps/web/src/features/",
          pathNot: `^apps/web/src/features/(${webFeatures.slice(0, at + 1).join("|")})/`,
        },
      ),
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
      "In core, builder and web, types must not form cycles either.",
      { path: "^(packages/(core|builder)|apps/web)/src/" },
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
