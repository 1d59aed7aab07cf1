import { expect, test } from "vitest";
import { parseUpOptions } from "./options.ts";
import { rolesOf } from "./roles.ts";

test("OPS-1 options: ports are checked and told by name", () => {
  expect(() => parseUpOptions(["--port", "abc"])).toThrow("--port must be a port between 1 and 65535, not abc.");
  expect(() => parseUpOptions(["--port", "8080"])).toThrow("must differ");
  expect(() => parseUpOptions(["--prot", "1"])).toThrow("--prot");
});

test("OPS-1 sockets of a deep data folder move to a short path", () => {
  const deep = parseUpOptions(["--data-dir", `/var/${"x".repeat(120)}`]);
  expect(deep.runDirectory.length).toBeLessThan(60);
  const shallow = parseUpOptions(["--data-dir", "/srv/towpath"]);
  expect(shallow.runDirectory).toBe("/srv/towpath/run");
});

const identity = {
  dataVersion: 1,
  secret: "s".repeat(43),
  forge: { privateKey: "k", clientId: "c", clientSecret: "cs", webhookSecret: "w" },
};

test("GH-3 the forge never starts beside a configured GitHub App", () => {
  const options = parseUpOptions(["--data-dir", "/srv/towpath"]);
  const surroundings = { options, identity, databaseUrl: "postgresql://x", uv: "/usr/bin/uv" };
  const local = rolesOf({ ...surroundings, environment: { PATH: "/bin", MY_TOKEN: "x" } });
  expect(local.map((role) => role.name)).toEqual(["web", "gateway", "runner", "worker", "forge"]);
  expect(local[0]?.env.GITHUB_URL).toBe("http://localhost:8090");
  expect(local[0]?.env.MY_TOKEN).toBeUndefined();
  const real = rolesOf({ ...surroundings, environment: { PATH: "/bin", GITHUB_APP_ID: "7" } });
  expect(real.map((role) => role.name)).not.toContain("forge");
  expect(real[0]?.env.GITHUB_APP_ID).toBe("7");
  expect(real[0]?.env.GITHUB_URL).toBeUndefined();
});
