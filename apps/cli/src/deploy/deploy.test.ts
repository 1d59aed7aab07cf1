import { expect, test } from "vitest";
import { buildPage, nextStep } from "./follow-build.ts";

const api = { url: "http://localhost:3000" };

test("OPS-4 VAL-1 the link to a build names the server as the dashboard does", () => {
  const build = { name: "portals", buildId: "b1" };
  const old = { name: "portals", pathName: "0190-id", authMode: "towpath-cloud" };
  expect(buildPage(api, { organization: "acme", project: old }, build)).toBe(
    "http://localhost:3000/acme/0190-id/build-logs/b1",
  );
  expect(buildPage(api, { organization: "acme", project: null }, { ...build, name: "weather" })).toBe(
    "http://localhost:3000/acme/weather/build-logs/b1",
  );
});

test("OPS-4 BLD-2 a failed build's remedies are named as options of the next deploy", () => {
  expect(nextStep({ line: null, action: { kind: "variables", names: ["API_TOKEN", "API_URL"] } })).toBe(
    "deploy again with --env API_TOKEN=… --env API_URL=…",
  );
  expect(nextStep({ line: null, action: { kind: "entrypoint", candidates: ["a.py", "b.py:app"] } })).toBe(
    "deploy again with --entrypoint a.py, or --entrypoint b.py:app",
  );
  expect(nextStep({ line: null, action: { kind: "root-directory", candidates: ["servers/one"] } })).toBe(
    "deploy again with --root-directory servers/one",
  );
  expect(nextStep({ line: 4, action: { kind: "code", path: "src/server.py" } })).toBe("open src/server.py line 4");
  expect(nextStep({ line: null, action: { kind: "rebuild" } })).toBe("deploy again");
  expect(nextStep({ line: 4, action: { kind: "code", path: null } })).toBeNull();
  expect(nextStep({ line: null, action: { kind: "operator" } })).toBeNull();
});
