import { registerHooks } from "node:module";

const directory = "/node_modules/drizzle-orm/";
let isRegistered = false;

/**
 * Resolves the imports of drizzle-orm without Node's help, for modules that are imported from now on: a process that
 * uses the database starts with half of the processor time. Node parses the package.json of the package for each import
 * that it resolves there, about 500 of them, and that one has 180 KB.
 */
export function resolveDrizzleFaster(): void {
  if (isRegistered) return;
  isRegistered = true;
  const entries = new Map<string, { readonly url: string; readonly format?: string | null | undefined }>();
  registerHooks({
    resolve(specifier, context, next) {
      const { parentURL, conditions } = context;
      if (!conditions.includes("import")) return next(specifier, context);
      // All its files that end with .js are ES modules: the others end with .cjs.
      if (/^\.\.?\/.*\.js$/.test(specifier) && parentURL?.includes(directory))
        return { url: new URL(specifier, parentURL).href, format: "module", shortCircuit: true };
      if (!/^drizzle-orm($|\/)/.test(specifier)) return next(specifier, context);
      // npm installs one copy for the whole repository.
      const { url, format } = entries.get(specifier) ?? next(specifier, context);
      entries.set(specifier, { url, format });
      return { url, format, shortCircuit: true };
    },
  });
}
