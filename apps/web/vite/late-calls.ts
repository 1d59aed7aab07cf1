import { join } from "node:path";
import type { Plugin } from "vite";

const firstInput = join(import.meta.dirname, "../src/ui/first-input.ts");
const fetcherImport = 'import { serverFnFetcher } from "./serverFnFetcher.js";';
const clientCall = 'await executeMiddleware(resolvedMiddleware, "client", {';

function replaced(code: string, from: string, to: string): string {
  if (code.split(from).length !== 2) throw new Error("The framework's calls have changed: adapt vite/late-calls.ts.");
  return code.replace(from, () => to);
}

/** The framework's `createClientRpc`, which loads what sends a call with the first one, or at the first sign of a person. */
export const withLateFetcher = (code: string): string =>
  replaced(
    code,
    fetcherImport,
    `import { onFirstInput } from ${JSON.stringify(firstInput)};
const load = () => import("./serverFnFetcher.js");
onFirstInput(() => void load().catch(() => {}));
const serverFnFetcher = async (...call) => (await load()).serverFnFetcher(...call);`,
  );

/** The framework's `createServerFn`, which runs the middleware of a call in a copy of the module that is loaded then. */
export const withLateMiddleware = (code: string): string =>
  replaced(
    code,
    clientCall,
    clientCall.replace("executeMiddleware", '(await import("./createServerFn.js?late")).executeMiddleware'),
  );

/** What the first call loads, in one file. */
export const callParts =
  /\/ssr\/(serializer\/|headers\.js)|\/cookie-es\/|\/client-rpc\/(serverFnFetcher|frame-decoder)|\/getDefaultSerovalPlugins|\/createServerFn\.js\?late|\/seroval(-plugins)?\//;

/**
 * Loads what calls of the server need, a tenth of a page's script, once there is one: a page comes with its data, so its
 * first visit calls nothing.
 */
export const lateCalls = (): Plugin => ({
  name: "late-calls",
  apply: "build",
  applyToEnvironment: ({ name }) => name === "client",
  transform: {
    filter: { id: /\/start-client-core\/dist\/esm\/(client-rpc\/createClientRpc|createServerFn)\.js$/ },
    handler(code, id) {
      return { code: (id.endsWith("/createServerFn.js") ? withLateMiddleware : withLateFetcher)(code), map: null };
    },
  },
});
