import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { CallAnswer, OfferedTool, SampledCall } from "@towpath/replay";
import { Agent, fetch } from "undici";

const startTimeoutMs = 180_000;

/** An MCP server in a process of its own, on a unix socket. */
export interface PythonServer {
  call(call: SampledCall, signal: AbortSignal): Promise<CallAnswer>;
  listTools(): Promise<OfferedTool[]>;
  stop(): Promise<void>;
}

/** Starts FastMCP servers from code. Each is forked from one interpreter, which has imported FastMCP once. */
export class PythonServers {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #directory: string;
  #count = 0;

  private constructor(directory: string) {
    this.#directory = directory;
    const script = join(import.meta.dirname, "serve.py");
    this.#child = spawn("uv", ["run", "--no-project", "--with", "fastmcp==4.1.2", "python", "-P", script], {
      stdio: ["pipe", "pipe", "inherit"],
      env: { ...process.env, FASTMCP_HTTP_HOST_ORIGIN_PROTECTION: "false", FASTMCP_LOG_ENABLED: "false" },
    });
    if (this.#child.stdout === null) throw new Error("The launcher has no output.");
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  static async open(): Promise<PythonServers> {
    return new PythonServers(await mkdtemp(join(tmpdir(), "tp-pr-")));
  }

  async start(code: string): Promise<PythonServer> {
    this.#count += 1;
    const base = join(this.#directory, String(this.#count));
    await writeFile(`${base}.py`, code);
    this.#child.stdin?.write(`${base}.py ${base}.sock\n`);
    const { value } = await this.#lines.next();
    const pid = Number(value);
    if (!Number.isInteger(pid)) throw new Error("The launcher of the servers has ended.");
    const agent = new Agent({ connect: { socketPath: `${base}.sock` } });
    const server = new HttpServer(agent, pid);
    const until = performance.now() + startTimeoutMs;
    while (!existsSync(`${base}.sock`) || !(await server.isUp())) {
      if (performance.now() > until) throw new Error(`Server ${base}.py does not answer.`);
      await sleep(20);
    }
    return server;
  }

  async close(): Promise<void> {
    this.#child.stdin?.end();
    await rm(this.#directory, { recursive: true, force: true });
  }
}

class HttpServer implements PythonServer {
  readonly #agent: Agent;
  readonly #pid: number;

  constructor(agent: Agent, pid: number) {
    this.#agent = agent;
    this.#pid = pid;
  }

  async #send(method: string, params: object, signal?: AbortSignal): Promise<JsonRpcAnswer> {
    const response = await fetch("http://server/mcp", {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      dispatcher: this.#agent,
      signal: signal ?? AbortSignal.timeout(30_000),
    });
    return (await response.json()) as JsonRpcAnswer;
  }

  isUp(): Promise<boolean> {
    return this.listTools().then(
      (tools) => tools.length > 0,
      () => false,
    );
  }

  async listTools(): Promise<OfferedTool[]> {
    const { result } = await this.#send("tools/list", {});
    return (result as unknown as { readonly tools: OfferedTool[] }).tools;
  }

  async call({ tool, arguments: values }: SampledCall, signal: AbortSignal): Promise<CallAnswer> {
    const begun = performance.now();
    const { result, error } = await this.#send("tools/call", { name: tool, arguments: values }, signal);
    const ms = performance.now() - begun;
    if (result !== undefined) return { kind: "result", result, isError: result.isError === true, ms };
    return { kind: "error", code: error?.code ?? 0, message: error?.message ?? "no message", ms };
  }

  async stop(): Promise<void> {
    process.kill(this.#pid, "SIGKILL");
    await this.#agent.destroy();
  }
}

interface JsonRpcAnswer {
  readonly result?: SampledCall["arguments"];
  readonly error?: { readonly code: number; readonly message: string };
}
