import { expect, test } from "vitest";
import { routeClassOf } from "./route-class.ts";

test("OPS-9 every path has one of a few classes, whoever's it is", () => {
  const classes = {
    "/": "page",
    "/acme/weather/logs": "page",
    "/assets/index-4f.js": "asset",
    "/favicon.svg": "asset",
    "/healthz": "health",
    "/_serverFn/abc": "function",
    "/api/v1/projects": "rest",
    "/git/acme/weather/info/refs": "git",
    "/api/github/webhooks": "webhook",
    "/api/github/webhooks/01890000-0000-7000-8000-000000000000": "webhook",
    "/api/sources/01890000-0000-7000-8000-000000000000/webhook": "webhook",
    "/oauth/token": "oauth",
    "/.well-known/jwks.json": "oauth",
    "/provider/sign-in": "sign-in",
    "/login": "sign-in",
    "/loginless": "page",
    "/api/auth/callback/oidc": "sign-in",
    "/api/builds/01890000-0000-7000-8000-000000000000/log": "stream",
    "/api/projects/acme/weather/mcp": "stream",
    "/api/projects/acme/weather/uploads": "other-api",
  };
  expect(Object.fromEntries(Object.keys(classes).map((path) => [path, routeClassOf(path)]))).toEqual(classes);
});
