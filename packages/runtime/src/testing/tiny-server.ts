import { request } from "node:http";
import { fileURLToPath } from "node:url";
import type { InstanceSpec, SandboxSpec } from "../port.ts";
import { runtimeDirectory, socketName, statusName } from "../server/inside-paths.ts";

const insideScript = "/opt/tiny/tiny-server.py";

export const testLimits = { memoryBytes: 128 * 1024 * 1024, processes: 32, cpus: 1, tmpBytes: 1024 * 1024 };

type Mode = "serve" | "exit" | "hang" | "fail" | "link" | "flood";

/** A server of the standard library that takes the harness's arguments. Runs on the system's Python. */
export const tinyServer = {
  /** Folder of the script, in the place of the harness. */
  folder: fileURLToPath(new URL(".", import.meta.url)),

  sandbox(mode: Mode, change: Partial<SandboxSpec> = {}): SandboxSpec {
    return {
      argv: [
        "/usr/bin/python3",
        insideScript,
        `--socket=${runtimeDirectory}/${socketName}`,
        `--status=${runtimeDirectory}/${statusName}`,
      ],
      env: { TINY_MODE: mode, PATH: "/usr/bin:/bin" },
      workingDirectory: "/tmp",
      mounts: [{ host: this.folder, inside: "/opt/tiny", writable: false }],
      limits: testLimits,
      network: "none",
      ...change,
    };
  },

  instance(mode: Mode, socketDirectory: string, change: Partial<SandboxSpec> = {}): InstanceSpec {
    return {
      instanceId: "00000000-0000-7000-8000-000000000001",
      sandbox: this.sandbox(mode, change),
      socketDirectory,
      startTimeoutMs: 10_000,
    };
  },

  /** GET over the unix socket; null when there is no answer in time. */
  get(socketPath: string, path = "/", timeoutMs = 5000): Promise<string | null> {
    return new Promise((resolve) => {
      const call = request({ socketPath, path, timeout: timeoutMs, agent: false }, (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (part: string) => {
          text += part;
        });
        response.on("end", () => resolve(text));
      });
      call.on("timeout", () => call.destroy());
      call.on("error", () => resolve(null));
      call.end();
    });
  },
};
