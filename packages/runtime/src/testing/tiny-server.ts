import { mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { fileURLToPath } from "node:url";
import { type Endpoint, type ServerEndpoint, secretHeader } from "@towpath/runner-api/endpoint";
import type { HostDriverConfig, Launch, SandboxSpec } from "../host/engine.ts";
import { runtimeDirectory, socketName, statusName } from "../host/server/server-spec.ts";
import type { ServerSpec } from "../port/servers.ts";

export const testLimits = { memoryBytes: 128 * 1024 * 1024, processes: 32, cpus: 1, tmpBytes: 1024 * 1024 };

type Mode = "serve" | "exit" | "hang" | "fail" | "link" | "flood";

const layers = { dependencies: "d".repeat(64), code: "c".repeat(64) };

/** Results of a server's attempts to change files, at `/change-code`. */
export const changedCode = {
  "beside the code": "done",
  "the code": "done",
  home: "done",
  cache: "done",
  layer: "refused",
  "layer by /proc": "refused",
  "layer by a link": "refused",
  "new file in the layer": "refused",
  "mode in the layer": "refused",
  "removal from the layer": "refused",
  "rename in the layer": "refused",
  dependencies: "refused",
} as const;

/** A server of the standard library that takes the harness's arguments in its place. */
export const tinyServer = {
  /** Directory of the package towpath_runner that it is. */
  directory: fileURLToPath(new URL("./tiny", import.meta.url)),

  /** A driver's configuration for it: two layers, the first of which leads to the system's Python. */
  driverConfig(directory: string): Required<Omit<HostDriverConfig, "downloads" | "volumes">> {
    const made = makeLayers(`${directory}/tiny-layers`);
    return {
      dataDirectory: directory,
      instanceDirectory: `${directory}/i`,
      harness: this.directory,
      codeDirectory: `${directory}/code`,
      uv: "uv",
      layers: {
        async get(digest) {
          const path = (await made)[digest];
          if (path !== undefined) return path;
          throw Object.assign(new Error(`There is no layer ${digest}.`), { code: "not_found" });
        },
        async add(layer, { name }) {
          await rename(layer, `${directory}/tiny-layers/${name}`);
          return { digest: name };
        },
        evict: async () => {},
      },
      buildEnvironment: { UV_OFFLINE: "1" },
    };
  },

  /** Its two layers as directories, by digest; `python`: where the first one leads to. */
  layers: (directory: string, python?: string) => makeLayers(directory, python),

  /** The server, for a driver with `driverConfig`. */
  server(mode: Mode, change: Partial<ServerSpec> = {}): ServerSpec {
    return {
      layers,
      pythonVersion: "3.11",
      entrypoint: "server.py:mcp",
      environment: { TINY_MODE: mode },
      limits: testLimits,
      network: "none",
      ...change,
    };
  },

  /** The same for an engine, below the port. */
  launch(mode: Mode, socketDirectory: string, change: Partial<SandboxSpec> = {}): Launch {
    const sandbox: SandboxSpec = {
      argv: [
        "/usr/bin/python3",
        "/opt/tiny/towpath_runner/__main__.py",
        `--listen=${runtimeDirectory}/${socketName}`,
        `--status=${runtimeDirectory}/${statusName}`,
      ],
      env: { TINY_MODE: mode, PATH: "/usr/bin:/bin" },
      workingDirectory: "/tmp",
      mounts: [{ host: this.directory, inside: "/opt/tiny", writable: false }],
      limits: testLimits,
      network: "none",
      ...change,
    };
    const instanceId = "00000000-0000-7000-8000-000000000001";
    return { instanceId, sandbox, socketDirectory, startTimeoutMs: 10_000 };
  },

  /** GET from its endpoint; null without an answer in time. */
  get(endpoint: Endpoint | ServerEndpoint | undefined, path = "/", timeoutMs = 5000): Promise<string | null> {
    const place = placeOf(endpoint);
    const headers = endpoint && "secret" in endpoint ? { [secretHeader]: endpoint.secret } : {};
    return new Promise((resolve) => {
      const call = request({ ...place, path, headers, timeout: timeoutMs, agent: false }, (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (part: string) => {
          text += part;
        });
        response.on("end", () => resolve(text));
        // Also in the middle of an answer; after the end it has no effect.
        response.on("close", () => resolve(null));
      });
      call.on("timeout", () => call.destroy());
      call.on("error", () => resolve(null));
      call.end();
    });
  },
};

function placeOf(endpoint: Endpoint | undefined): { socketPath: string } | { host: string; port: number } {
  if (endpoint === undefined) throw new Error("an endpoint was expected");
  return endpoint.kind === "unix" ? { socketPath: endpoint.path } : { host: endpoint.host, port: endpoint.port };
}

async function makeLayers(directory: string, python = "/usr/bin/python3"): Promise<Readonly<Record<string, string>>> {
  const [dependencies, code] = [`${directory}/dependencies`, `${directory}/code`];
  await mkdir(`${dependencies}/bin`, { recursive: true });
  await mkdir(code, { recursive: true });
  await writeFile(`${code}/server.py`, "");
  await symlink(python, `${dependencies}/bin/python`).catch(() => {});
  return { [layers.dependencies]: dependencies, [layers.code]: code };
}
