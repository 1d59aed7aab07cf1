import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { withLateFetcher, withLateMiddleware } from "./late-calls.ts";
import { withLatePreloads } from "./late-preloads.ts";

test("CAP-7 what calls need is loaded with the first one", () => {
  const start = createRequire(createRequire(import.meta.url).resolve("@tanstack/react-start/package.json"));
  const directory = join(dirname(start.resolve("@tanstack/start-client-core/package.json")), "dist/esm");
  const source = (name: string) => readFileSync(join(directory, name), "utf8");
  const rpc = withLateFetcher(source("client-rpc/createClientRpc.js"));
  expect(rpc).not.toContain("import { serverFnFetcher }");
  expect(rpc).toContain('import("./serverFnFetcher.js")');
  expect(withLateMiddleware(source("createServerFn.js"))).toContain('(await import("./createServerFn.js?late"))');
  for (const change of [withLateFetcher, withLateMiddleware])
    expect(() => change("export const changed = 1;")).toThrow("adapt vite/late-calls.ts");
});

test("CAP-7 the lists of preloads leave the module and keep their files", () => {
  const table = `const __vite__mapDeps=(i,m=__vite__mapDeps,d=(m.f||(m.f=["a.js","b.js","c.css"])))=>i.map(i=>d[i]);`;
  const code = [
    "p(()=>import(`./a.js`),__vite__mapDeps([0,2]))",
    "p(()=>import(`./d.js`),[])",
    "p(async()=>{let{x:e}=await import(`./b.js`);return{x:e}},__vite__mapDeps([1]))",
  ];
  const late = withLatePreloads(`${table}\n${code.join(";")}`, (preloads) => `/${Object.keys(preloads).length}.json`);
  expect(late?.preloads).toEqual({ "./a.js": ["a.js", "c.css"], "./d.js": [], "./b.js": ["b.js"] });
  expect(late?.code).toContain(
    "__i(`./a.js`);__i(`./d.js`);p(async()=>{let{x:e}=await import(`./b.js`);return{x:e}},__d(`./b.js`))",
  );
  expect(late?.code).toContain("/3.json");
  expect(late?.code).not.toContain("__vite__mapDeps");
  expect(withLatePreloads("load()", () => "")).toBeNull();
});
