import { basename, join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import tailwindcss from "@tailwindcss/vite";
import { tanstackStart } from "@tanstack/react-start/plugin/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import { z } from "zod";
import { postMetaSchema } from "./src/features/site/blog/post.schema.ts";
import { documentLink } from "./src/features/site/docs/contents.ts";
import { tourStepSchema } from "./src/features/site/landing/tour-step.schema.ts";
import { callParts, lateCalls } from "./vite/late-calls.ts";
import { lightIcons } from "./vite/light-icons.ts";
import { markdown } from "./vite/markdown.ts";
import { pureSchemas } from "./vite/pure-schemas.ts";

/** Import specifiers that must never reach a browser. A leak fails the build. */
const serverOnly = [
  "pg",
  "pino",
  "better-auth",
  "drizzle-orm",
  "ai",
  "@towpath/artifacts",
  "@towpath/builder",
  "@towpath/chat",
  "@towpath/db",
  "@towpath/export",
  "@towpath/auth",
  "@towpath/crypto",
  "@towpath/git",
  "@towpath/github",
  "@towpath/mail",
  "@towpath/queue",
  "@towpath/role",
  "@towpath/logs",
  /^node:/,
  /^@towpath\/core\/(?!(.*\/(schema|contract)|errors)$)/,
];

/** Writes a `.br` and a `.gz` beside every text file of the browser build, for the static file server (`serve.ts`). */
const precompress = (): Plugin => ({
  name: "precompress",
  apply: "build",
  applyToEnvironment: ({ name }) => name === "client",
  generateBundle: {
    order: "post",
    async handler(_options, bundle) {
      // The best: two seconds of a build more than 9, and 7 % less for each visitor.
      const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
      const texts = Object.values(bundle).filter(({ fileName }) => /\.(js|css|svg|json)$/.test(fileName));
      for (const file of texts) {
        const content = Buffer.from(file.type === "chunk" ? file.code : file.source);
        const [br, gz] = await Promise.all([
          promisify(brotliCompress)(content, quality),
          promisify(gzip)(content, { level: 9 }),
        ]);
        this.emitFile({ type: "asset", fileName: `${file.fileName}.br`, source: br });
        this.emitFile({ type: "asset", fileName: `${file.fileName}.gz`, source: gz });
      }
    },
  },
});

/** Modules that run before any page. Rolldown adds their imports, including the routes. */
const firstLoad =
  /node_modules\/(react|react-dom|scheduler|use-sync-external-store|@tanstack\/(react-router|router-core|history|store|react-store|start-client-core|react-query|query-core))\/|src\/ui\/(callout|icon|logo)\./;

/** Of these libraries, what some pages do without. */
const ofSomePages =
  /\/(queriesObserver|useQueries|mutationObserver|useMutation|infiniteQueryObserver|use(Suspense)?InfiniteQuery|useBlocker)\.js/;

/** Popups, whose code is loaded when one opens. */
const popups = /node_modules\/(@base-ui|@floating-ui)\/|src\/ui\/(select-popup|dialog-popup)\./;

/** Not of every page, though of many. */
const formParts = /\/zod\/|src\/ui\/(tabs|checkbox|segmented|field|early-entry)\./;

/** Titles and order are in `contents.ts`: the documents of the repository have no front matter. */
const documentation = { frontMatter: z.strictObject({}), linkTo: documentLink };

export default defineConfig({
  resolve: {
    tsconfigPaths: true,
    // React has it.
    alias: [{ find: /^use-sync-external-store\/shim$/, replacement: "react" }],
  },
  server: { host: "127.0.0.1" },
  environments: {
    client: {
      build: {
        // No lists of what to fetch along with each part: they are 2 kB of a page. A part's files are found one from the other,
        // after a link that a pointer or the focus has reached ahead of the click.
        modulePreload: { resolveDependencies: () => [] },
        rolldownOptions: {
          treeshake: { manualPureFunctions: ["z"] },
          output: {
            // One chunk for the modules of every page: 30 small ones would be 10 kB larger and listed for each route. A
            // second one for modules shared by twelve entries: dozens of files fewer per page of the app, and hardly more
            // bytes.
            codeSplitting: {
              groups: [
                {
                  name: "first",
                  test: (id) => firstLoad.test(id) && !callParts.test(id) && !ofSomePages.test(id),
                  priority: 2,
                },
                {
                  name: "shared",
                  test: (id) => !popups.test(id) && !formParts.test(id) && !ofSomePages.test(id),
                  minShareCount: 12,
                  priority: 1,
                },
                // The frame of signed-in pages, with its icons, which would otherwise be a file each, as would the marks of
                // deployments in charts.
                {
                  name: "app",
                  test: /features\/shell\/app-shell\/app-shell\.|features\/project\/deployment\/deployment-mark\./,
                  priority: 0.5,
                },
                { name: "calls", test: callParts, priority: 1.5 },
                { name: "popups", test: popups, minShareCount: 5 },
                { name: "schemas", test: /node_modules\/zod\//, minShareCount: 2 },
              ],
            },
          },
        },
      },
    },
    // Loading packages file by file takes over half of the startup time, so all are bundled but those that open files or native libraries.
    ssr: { resolve: { noExternal: true, external: ["pg", "pino", "pg-boss", "prom-client", "takumi-js"] } },
  },
  plugins: [
    tailwindcss(),
    markdown({
      publicDirectory: join(import.meta.dirname, "public"),
      collections: [
        { directory: join(import.meta.dirname, "src/features/site/blog/posts"), frontMatter: postMetaSchema },
        { directory: join(import.meta.dirname, "src/features/site/landing/tour"), frontMatter: tourStepSchema },
        { directory: join(import.meta.dirname, "src/features/site/docs/pages"), ...documentation },
        { directory: join(import.meta.dirname, "../../docs"), ...documentation },
      ],
    }),
    tanstackStart({
      router: {
        routeFileIgnorePattern: "\\.test\\.",
        quoteStyle: "double",
        semicolons: true,
        // Loaders stay out of the first load, which would otherwise grow with every page.
        codeSplittingOptions: {
          defaultBehavior: [["loader"], ["component", "pendingComponent", "errorComponent", "notFoundComponent"]],
        },
      },
      importProtection: { behavior: "error", client: { specifiers: serverOnly } },
      // `session.getProfile` instead of a hash, for logs and for tests that call every function.
      serverFns: {
        generateFunctionId: ({ filename, functionName }) =>
          `${basename(filename).replace(/\.functions\.ts.*$/, "")}.${functionName.replace(/_createServerFn_handler$/, "")}`,
      },
    }),
    react(),
    lightIcons(),
    lateCalls(),
    pureSchemas(),
    precompress(),
  ],
});
