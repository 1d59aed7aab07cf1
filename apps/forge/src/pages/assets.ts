import { readFileSync } from "node:fs";
import { Hono } from "hono";

const read = (name: string) => readFileSync(new URL(`assets/${name}`, import.meta.url), "utf8");

/** The style sheet, the script of the copy buttons, and the mark. */
export function assetRoutes(): Hono {
  const routes = new Hono();
  const files = [
    ["forge.css", "text/css; charset=utf-8"],
    ["forge.js", "text/javascript; charset=utf-8"],
    ["mark.svg", "image/svg+xml"],
  ] as const;
  for (const [name, type] of files) {
    const content = read(name);
    routes.get(`/${name}`, (c) => c.body(content, 200, { "content-type": type, "cache-control": "no-cache" }));
  }
  return routes;
}
