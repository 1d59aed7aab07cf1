import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { withLateFetcher, withLateMiddleware } from "./late-calls.ts";

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
