import { createHash } from "node:crypto";
import type { Plugin } from "vite";

const table = /const __vite__mapDeps=\(i,m=__vite__mapDeps,d=\(m\.f\|\|\(m\.f=(\[[^\]]*\])\)\)\)=>i\.map\(i=>d\[i\]\);/;

/** For each file that is imported on demand, by its specifier, the files that it needs. */
type Preloads = Readonly<Record<string, readonly string[]>>;
type Late = { readonly code: string; readonly preloads: Preloads };

// Of Vite's `preload(() => import("./page.js"), [files])`, as the minifier leaves it.
const plain = /([\w$]+)\(\(\)=>import\(`(\.\/[^`]+)`\),(?:__vite__mapDeps\(\[([\d,]*)\]\)|\[\])\)/g;
const others = /import\(`(\.\/[^`]+)`\)([^`]*?)__vite__mapDeps\(\[([\d,]*)\]\)/g;

/** The module without the lists of what to fetch along with each import, which it loads from `urlOf(preloads)`. */
export function withLatePreloads(code: string, urlOf: (preloads: Preloads) => string): Late | null {
  const found = table.exec(code);
  if (!found?.[1]) return null;
  const files: readonly string[] = JSON.parse(found[1]);
  const preloads: Record<string, readonly string[]> = {};
  let preload = "";
  const keep = (specifier: string, numbers = "") => {
    preloads[specifier] = numbers.split(",").flatMap((at) => files[Number(at || -1)] ?? []);
  };
  const short = code
    .replace(plain, (_import, name: string, specifier: string, numbers?: string) => {
      preload = name;
      keep(specifier, numbers);
      return `__i(\`${specifier}\`)`;
    })
    .replace(others, (_import, specifier: string, between: string, numbers: string) => {
      keep(specifier, numbers);
      return `import(\`${specifier}\`)${between}__d(\`${specifier}\`)`;
    });
  const late = `let __l;const __d=f=>__l?.[f]??[],__i=f=>${preload}(()=>import(f),__d(f));{const s=["pointermove","pointerdown","wheel","keydown"],f=()=>{for(const e of s)removeEventListener(e,f);fetch(${JSON.stringify(urlOf(preloads))}).then(r=>r.json()).then(l=>{__l=l}).catch(()=>{})};for(const e of s)addEventListener(e,f,{passive:true})}`;
  return { code: short.replace(table, () => late), preloads };
}

/**
 * Which files each page needs, loaded at the first sign of a person instead of with the first page: only going to another
 * page needs them, and they are six kilobytes. Before, or without them, a page's files are found one from the other.
 */
export const latePreloads = (): Plugin => ({
  name: "late-preloads",
  apply: "build",
  applyToEnvironment: ({ name }) => name === "client",
  generateBundle: {
    order: "post",
    handler(_options, bundle) {
      const routes = Object.values(bundle).find(
        (file) => file.type === "chunk" && file.moduleIds.some((id) => id.endsWith("/routeTree.gen.ts")),
      );
      if (routes?.type !== "chunk") throw new Error("No chunk has the routes: adapt vite/late-preloads.ts.");
      const late = withLatePreloads(routes.code, (preloads) => {
        const source = JSON.stringify(preloads);
        const hash = createHash("sha256").update(source).digest("base64url").slice(0, 8);
        const fileName = `assets/preloads-${hash}.json`;
        this.emitFile({ type: "asset", fileName, source });
        return `/${fileName}`;
      });
      if (!late || late.code.includes("__vite__mapDeps"))
        throw new Error("Vite's lists of preloads have changed: adapt vite/late-preloads.ts.");
      routes.code = late.code;
    },
  },
});
