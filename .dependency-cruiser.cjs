// Imports point one way: apps → packages, core → db, the browser only into schemas. See ARCHITECTURE.md.
const packageOf = (name) => `^packages/${name}/`;
const pathOf = (target) => (target.startsWith("^") ? target : packageOf(target));

/** Browser-safe schemas of core: data without verbs, which packages below core share with it. */
const coreSchemas = "^packages/core/src/[^/]+/[^/]+\\.schema\\.ts$";

/** Where a server listens: the driver port and the runner's contract mean the same. */
const endpoints = "^packages/runner-api/src/endpoint\\.ts$";

/** What a package may import of the others. A package that is not listed may import none. */
const allowed = {
  // auth: only its credentials (how a key looks and is hashed), which the gateway shares.
  // mcp: only the manifest (`core-imports-the-manifest-only`).
  core: ["db", "auth", "mcp", "crypto"],
  // What gateway and worker know of servers, and nothing else does.
  "runner-api": ["crypto", coreSchemas],
  queue: ["core", "db"],
  builder: ["core", "runtime", "mcp", "artifacts"],
  artifacts: ["runtime"],
  runtime: [endpoints],
  mcp: [],
  auth: ["db", "crypto"],
  github: ["core", "crypto"],
  crypto: [],
  role: [],
  logs: ["db", coreSchemas],
  db: [],
  "apps/gateway": ["db", "auth", "crypto", "mcp", "logs", "role", "runner-api"],
  "apps/runner": ["core", "db", "logs", "runtime", "artifacts", "role", "runner-api"],
  "apps/worker": ["core", "db", "logs", "runtime", "artifacts", "builder", "github", "queue", "role", "runner-api"],
  "apps/forge": ["github", "role"],
  "apps/cli": ["db", coreSchemas, "role", "runner-api"],
};

const rules = Object.entries(allowed).map(([name, targets]) => {
  const from = name.startsWith("apps/") ? `^${name}/` : packageOf(name);
  const own = name.startsWith("apps/") ? [] : [name];
  return {
    name: `${name.replace("/", "-")}-imports`,
    comment: `${name} may import of our packages only: ${targets.join(", ") || "none"}.`,
    severity: "error",
    from: { path: from, pathNot: "\\.test\\.tsx?$|/testing/|/test/" },
    to: { path: "^packages/", pathNot: [...own, ...targets].map(pathOf).join("|") || "^$" },
  };
});

module.exports = {
  forbidden: [
    ...rules,
    {
      name: "core-imports-the-manifest-only",
      comment: "A build's manifest is described by the mcp package; the domain needs nothing else of it.",
      severity: "error",
      from: { path: "^packages/core/", pathNot: "\\.test\\.ts$" },
      to: { path: "^packages/mcp/", pathNot: "^packages/mcp/src/manifest/" },
    },
    {
      name: "no-cycles",
      comment: "A cycle hides which of two files owns the thing.",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    {
      name: "core-entities-meet-at-their-doors",
      comment:
        "Entities of core meet through index.ts (verbs, exported from the package), internal.ts (what other entities " +
        "build on, without authorization and not exported) and schemas.",
      severity: "error",
      from: { path: "^packages/core/src/([^/]+)/", pathNot: "\\.test\\.ts$|/testing/" },
      to: { path: "^packages/core/src/", pathNot: "^packages/core/src/$1/|/(index|internal)\\.ts$|\\.schema\\.ts$" },
    },
    {
      name: "core-no-cycles",
      comment: "In core not even types go round in a circle.",
      severity: "error",
      from: { path: "^packages/core/src/" },
      to: { circular: true },
    },
    {
      name: "nothing-imports-apps",
      comment: "What two processes share belongs into a package.",
      severity: "error",
      from: { path: "^packages/" },
      to: { path: "^apps/" },
    },
    {
      name: "apps-do-not-import-each-other",
      comment: "Processes talk over sockets, queues and the database.",
      severity: "error",
      from: { path: "^apps/([^/]+)/", pathNot: "\\.test\\.tsx?$" },
      to: { path: "^apps/", pathNot: "^apps/$1/" },
    },
    {
      name: "no-deep-imports",
      comment: "Packages are entered through their exports.",
      severity: "error",
      from: { path: "^(packages|apps)/([^/]+)/" },
      to: { path: "^packages/([^/]+)/", pathNot: "^$1/$2/", dependencyTypes: ["local"] },
    },
    {
      name: "runner-api-users",
      comment: "Only the runner and its callers speak its API; everybody else asks the database or the gateway.",
      severity: "error",
      from: { path: "^(packages|apps)/", pathNot: "^(packages/runner-api|apps/(gateway|worker|runner|cli/src/up))/" },
      to: { path: "^packages/runner-api/", pathNot: endpoints },
    },
    {
      name: "worker-layers",
      comment: "main → compose → jobs → rollout.",
      severity: "error",
      from: { path: "^apps/worker/src/(jobs|rollout)/", pathNot: "\\.test\\.ts$" },
      to: { path: "^apps/worker/src/(main|compose)\\.ts$" },
    },
    {
      name: "worker-rollout-stands-below-jobs",
      comment: "A rollout is told what it needs; it knows of no job.",
      severity: "error",
      from: { path: "^apps/worker/src/rollout/", pathNot: "\\.test\\.ts$" },
      to: { path: "^apps/worker/src/jobs/" },
    },
    {
      name: "gateway-has-no-verbs",
      comment: "The data plane must keep working without the control plane.",
      severity: "error",
      from: { path: "^apps/gateway/", pathNot: "\\.test\\.ts$" },
      to: { path: "^packages/core/" },
    },
    {
      name: "web-layers",
      comment: "The web app imports one way: routes, then features, then http, then ui. Type-only imports count too.",
      severity: "error",
      from: { path: "^apps/web/src/(features|http|ui)/", pathNot: "\\.test\\.tsx?$" },
      to: { path: "^apps/web/src/(routes/|router\\.tsx$|routeTree)" },
    },
    {
      name: "web-http-and-ui-know-no-features",
      comment: "What a request or a widget needs of a feature is passed to it.",
      severity: "error",
      from: { path: "^apps/web/src/(http/|ui/|[^/]+\\.server\\.ts$)", pathNot: "\\.test\\.tsx?$" },
      to: { path: "^apps/web/src/features/" },
    },
    {
      name: "web-ui-is-only-looks",
      comment: "Widgets work on any page: they neither know requests nor the domain.",
      severity: "error",
      from: { path: "^apps/web/src/ui/", pathNot: "\\.test\\.tsx?$" },
      to: { path: "^apps/web/src/(?!ui/)|^packages/" },
    },
    {
      name: "web-no-cycles",
      comment: "In the web app not even types go round in a circle.",
      severity: "error",
      from: { path: "^apps/web/src/" },
      to: { circular: true },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "(^|/)dist/|\\.gen\\.ts$" },
    parser: "swc",
    tsConfig: { fileName: "apps/web/tsconfig.json" },

    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "types", "default"] },
  },
};
