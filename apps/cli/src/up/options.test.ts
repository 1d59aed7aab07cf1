import { expect, test } from "vitest";
import { parseUpOptions } from "./options.ts";
import { rolesOf } from "./roles.ts";
import { serverUrlOf } from "./server-url.ts";

const processes = {
  commands: { web: ["web"], gateway: ["gateway"], runner: ["runner"], worker: ["worker"] },
  sockets: { web: 20, gateway: 21 },
  uv: "/usr/bin/uv",
};

test("OPS-1 options: ports are checked, and errors name the option", () => {
  expect(() => parseUpOptions(["--port", "abc"], {})).toThrow("--port must be a port between 1 and 65535, not abc.");
  expect(() => parseUpOptions(["--port", "8080"], {})).toThrow("each need their own port");
  expect(() => parseUpOptions(["--prot", "1"], {})).toThrow("--prot");
});

test("OPS-1 options: variables are checked and count like flags; a flag wins", () => {
  const environment = {
    TOWPATH_PORT: "3100",
    TOWPATH_GATEWAY_PORT: "8180",
    TOWPATH_GATEWAY_HOST: "0.0.0.0",
    TOWPATH_HOST: "",
  };
  const options = parseUpOptions(["--data-dir", "/srv/towpath", "--port", "3200"], environment);
  expect(options).toMatchObject({ port: 3200, gatewayPort: 8180, gatewayHost: "0.0.0.0", host: "127.0.0.1" });
  expect(options.url).toBe("http://localhost:3200");
  const serverUrl = serverUrlOf(options, "path");
  expect(serverUrl).toBe("http://localhost:8180/{name}");
  const [web] = rolesOf({
    options,
    identity,
    serverUrl,
    database: { url: "postgresql://x", directUrl: "postgresql://y" },
    ...processes,
    environment,
  });
  expect(web?.env).toMatchObject({
    TOWPATH_URL: "http://localhost:3200",
    TOWPATH_PORT: "3200",
    TOWPATH_HOST: "127.0.0.1",
    TOWPATH_GATEWAY_PORT: "8180",
    TOWPATH_GATEWAY_HOST: "0.0.0.0",
    TOWPATH_SERVER_URL: serverUrl,
    DATABASE_URL: "postgresql://x",
    DATABASE_DIRECT_URL: "postgresql://y",
  });
  const parse = (more: Record<string, string>) => () => parseUpOptions([], more);
  expect(parse({ TOWPATH_GATEWAY_PORT: "x" })).toThrow("TOWPATH_GATEWAY_PORT must be a port");
  expect(parse({ TOWPATH_GATEWAY_PORT: "3000" })).toThrow("each need their own port");
  expect(parse({ TOWPATH_URL: "towpath.example.com" })).toThrow("TOWPATH_URL must be an http or https URL");
  expect(parse({ TOWPATH_SERVER_URL: "https://example.com" })).toThrow("must contain {name}");
});

test("OPS-1 sockets of a deep data directory move to a short path", () => {
  const deep = parseUpOptions(["--data-dir", `/var/${"x".repeat(120)}`], {});
  expect(deep.runDirectory.length).toBeLessThan(60);
  const shallow = parseUpOptions(["--data-dir", "/srv/towpath"], {});
  expect(shallow.runDirectory).toBe("/srv/towpath/run");
});

const identity = {
  dataVersion: 1,
  release: null,
  previousSecrets: ["an earlier secret, of 32 characters"],
  rotatedAt: null,
  secret: "s".repeat(43),
  serversBy: "path" as const,
};

test("GH-3 GitHub is set by the operator; without settings there is none", () => {
  const options = parseUpOptions(["--data-dir", "/srv/towpath"], {});
  const serverUrl = serverUrlOf(options, "path");
  const surroundings = {
    options,
    identity,
    serverUrl,
    database: { url: "postgresql://x", directUrl: "postgresql://x" },
    ...processes,
  };
  const local = rolesOf({ ...surroundings, environment: { PATH: "/bin", MY_TOKEN: "x" } });
  expect(local.map((role) => role.name)).toEqual(["web", "gateway", "runner", "worker"]);
  const [web = {}] = local.map((role) => role.env);
  expect(Object.keys(web).filter((name) => /GITHUB|FORGE|MY_TOKEN/.test(name))).toEqual([]);
  const [real] = rolesOf({ ...surroundings, environment: { PATH: "/bin", GITHUB_APP_ID: "7" } });
  expect(real?.env.GITHUB_APP_ID).toBe("7");
});
