import { randomBytes } from "node:crypto";
import { chmod, mkdir, readdir } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { checkPrewarmed } from "../../port/check-prewarmed.ts";
import { SandboxError } from "../../port/errors.ts";
import type { InstanceHandle, Prewarmed, PrewarmResult, PrewarmSpec } from "../../port/servers.ts";
import type { Engine, HostDriverConfig } from "../engine.ts";
import { removeDirectory } from "../process/remove-directory.ts";
import { interpreterFiles, serverFiles } from "../server/server-files.ts";
import { forkingSandboxSpec, prewarmedStart, prewarmSandboxSpec, type ServerFiles } from "../server/server-spec.ts";
import { placeCode } from "./place-code.ts";
import type { ParentLaunch, WaitingInterpreter } from "./prewarm-server.ts";

/** Placing more takes longer than it saves. */
const maxCodeEntries = 3000;

const unsupported: PrewarmResult = {
  ok: false,
  reason: "this host can't change the limits of a process that runs, or can't freeze it",
  isFinal: true,
};

/** The name of the directory that holds a server's socket; that of its code, if it was prewarmed, is the same. */
export function socketDirectoryName({ endpoint }: InstanceHandle): string {
  return endpoint.kind === "unix" ? basename(dirname(endpoint.path)) : "";
}

/** Prewarmed interpreters on this host: maps the port to the engine, and owns the directories of their code. */
export class HostPrewarm {
  readonly #engine: Engine;
  readonly #config: HostDriverConfig;

  constructor(engine: Engine, config: HostDriverConfig) {
    this.#engine = engine;
    this.#config = config;
  }

  async start(spec: PrewarmSpec): Promise<PrewarmResult> {
    const { codeDirectory, instanceDirectory } = this.#config;
    if (codeDirectory === undefined || this.#engine.prewarm === undefined) return unsupported;
    const files = await interpreterFiles(spec.dependencies, spec.pythonVersion, this.#config);
    // A socket's path must stay short.
    const name = randomBytes(6).toString("hex");
    const code = `${codeDirectory}/${name}`;
    await mkdir(code, { recursive: true });
    await chmod(code, 0o755);
    try {
      const outcome = await this.#engine.prewarm({
        sandbox: prewarmSandboxSpec(spec, { ...files, code }),
        socketDirectory: `${instanceDirectory}/${name}`,
        startTimeoutMs: spec.startTimeoutMs,
        parent: this.#parentOf(spec, files),
      });
      if (outcome?.ok === true) {
        const { interpreter, withoutForks } = outcome;
        const prewarmed = this.#prewarmed(spec, code, interpreter);
        return { ok: true, prewarmed, ...(withoutForks === undefined ? {} : { withoutForks }) };
      }
      await removeDirectory(code);
      return outcome ?? unsupported;
    } catch (error) {
      await removeDirectory(code).catch(() => {});
      throw error;
    }
  }

  /** The interpreter that it may be forked from, which has no code either. */
  #parentOf(spec: PrewarmSpec, files: Omit<ServerFiles, "code">): ParentLaunch {
    const { codeDirectory, instanceDirectory } = this.#config;
    const { organizationId, dependencies, network, limits } = spec;
    const { python, harness } = files;
    const name = randomBytes(6).toString("hex");
    const code = `${codeDirectory}/${name}`;
    return {
      // All that its sandbox depends on. What servers of two organizations share is never one of these.
      kind: JSON.stringify([organizationId, dependencies, python, harness, network, limits.tmpBytes, limits.fileBytes]),
      required: spec.onlyForked === true,
      python: python.executable,
      async make() {
        await mkdir(code, { recursive: true });
        await chmod(code, 0o755);
        return {
          sandbox: forkingSandboxSpec(spec, { ...files, code }),
          socketDirectory: `${instanceDirectory}/${name}`,
        };
      },
      remove: () => removeDirectory(code).catch(() => {}),
    };
  }

  /** Removes the code of servers that are gone, and later that of these. */
  async adopt(handles: readonly InstanceHandle[]): Promise<void> {
    const { codeDirectory } = this.#config;
    if (codeDirectory === undefined) return;
    const inUse = new Set(handles.map(socketDirectoryName));
    const present = await readdir(codeDirectory).catch(() => []);
    const leftovers = present.filter((name) => !inUse.has(name));
    await Promise.all(leftovers.map((name) => removeDirectory(`${codeDirectory}/${name}`).catch(() => {})));
    for (const handle of handles)
      void handle.exited.then(() => removeDirectory(`${codeDirectory}/${socketDirectoryName(handle)}`).catch(() => {}));
  }

  #prewarmed(spec: PrewarmSpec, code: string, { running, claim, end }: WaitingInterpreter): Prewarmed {
    let isClaimed = false;
    const ended = running.ended.then(() => removeDirectory(code).catch(() => {}));
    return {
      ended,
      memoryBytes: () => running.memoryBytes(),
      end: async () => (isClaimed ? undefined : await end()),
      claim: async (organizationId, instance, onOutput) => {
        checkPrewarmed(spec, organizationId, instance);
        if (isClaimed) throw new SandboxError("invalid_spec", "An interpreter becomes one server only.");
        isClaimed = true;
        try {
          const files = await serverFiles(instance.server, this.#config);
          const { instanceId, startTimeoutMs, memo, server } = instance;
          const { env, arguments: list } = prewarmedStart(server, files, startTimeoutMs);
          return await claim(
            {
              instanceId,
              startTimeoutMs,
              limits: server.limits,
              env,
              arguments: list,
              placeCode: () => placeCode(files.code, code, maxCodeEntries),
              ...(memo === undefined ? {} : { memo }),
            },
            onOutput,
          );
        } catch (error) {
          await end();
          throw error;
        }
      },
    };
  }
}
