import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { repositoryRoot } from "../instance/towpath-process.ts";

const require = createRequire(import.meta.url);
export type Verdict = { readonly passed: number; readonly failed: number };

export const revisions = ["2026-07-28", "2025-11-25"] as const;

/** The package exports nothing, only its program is of use. */
export function suiteProgram(): string {
  for (const directory of require.resolve.paths("@modelcontextprotocol/conformance") ?? []) {
    const candidate = join(directory, "@modelcontextprotocol", "conformance", "dist", "index.js");
    try {
      return require.resolve(candidate);
    } catch {
      // Hoisted further up.
    }
  }
  throw new Error("@modelcontextprotocol/conformance is not installed.");
}

/**
 * Runs exactly the scenarios that a revision requires and returns passed and failed checks by scenario. Some pass even
 * when the server is down, so compare both sides.
 */
export async function runSuite(url: string, revision: (typeof revisions)[number]): Promise<Map<string, Verdict>> {
  const output = await run(url, "--requirements", revision);
  const verdicts = new Map<string, Verdict>();
  for (const [, scenario, passed, failed] of output.matchAll(/^[✓✗] ([\w-]+): (\d+) passed, (\d+) failed$/gm)) {
    if (scenario) verdicts.set(scenario, { passed: Number(passed), failed: Number(failed) });
  }
  return verdicts;
}

/** Runs one scenario. */
export async function runScenario(url: string, scenario: string): Promise<Verdict> {
  const output = await run(url, "--scenario", scenario);
  const [, passed, failed] = /^Passed: (\d+)\/\d+, (\d+) failed/m.exec(output) ?? [];
  if (passed === undefined || failed === undefined) throw new Error(`The suite gave no verdict: ${output}`);
  return { passed: Number(passed), failed: Number(failed) };
}

async function run(url: string, ...options: string[]): Promise<string> {
  const child = spawn(process.execPath, [suiteProgram(), "server", "--url", url, ...options], {
    cwd: dirname(suiteProgram()),
    stdio: ["ignore", "pipe", "ignore"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  await once(child, "close");
  return output;
}

/** Starts the server without Towpath, guarded against foreign hosts as a bare server must be. */
export async function serveDirectly(port: number): Promise<ChildProcess> {
  const script = join(repositoryRoot, "tests", "conformance", "serve_directly.py");
  const child = spawn(
    "uv",
    ["run", "--no-project", "--with", "fastmcp[tasks]==4.1.2", "python", script, String(port)],
    {
      env: { ...process.env, FASTMCP_HTTP_HOST_ORIGIN_PROTECTION: "true" },
      stdio: "ignore",
      detached: true,
    },
  );
  const deadline = Date.now() + 90_000;
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`The bare server ended with status ${child.exitCode}.`);
    const answered = await fetch(`http://localhost:${port}/mcp`).then(
      () => true,
      () => false,
    );
    if (answered) return child;
    await sleep(100);
  }
  throw new Error("The bare server did not answer within 90 s.");
}
