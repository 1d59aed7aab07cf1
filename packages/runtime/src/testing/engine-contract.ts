import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Engine, SandboxSpec } from "../host/engine.ts";
import type { RunOptions } from "../port/builds.ts";
import type { Exit } from "../port/execution.ts";
import { collect } from "./driver-contract.ts";
import { shortDirectory } from "./short-directory.ts";
import { testLimits } from "./tiny-server.ts";

const python = "/usr/bin/python3";

function script(code: string, change: Partial<SandboxSpec> = {}): SandboxSpec {
  return {
    argv: [python, "-c", code],
    env: { PATH: "/usr/bin:/bin" },
    workingDirectory: "/tmp",
    mounts: [],
    limits: testLimits,
    network: "none",
    ...change,
  };
}

/** The contract of this host's drivers below the port. Runs real processes; needs /usr/bin/python3. */
export function engineContract(name: string, makeEngine: (directory: string) => Engine): void {
  describe(`engine contract: ${name}`, () => {
    let directory = "";
    let engine: Engine;
    const run = (spec: SandboxSpec, options: Partial<RunOptions> = {}) => {
      const { lines, onOutput } = collect();
      return engine
        .run(spec, { timeoutMs: 20_000, outputBytes: 1024 * 1024, onOutput, ...options })
        .then((exit) => ({ exit, lines }));
    };
    beforeAll(async () => {
      directory = await shortDirectory();
      engine = makeEngine(directory);
    });
    afterAll(async () => {
      await engine.close();
      await rm(directory, { recursive: true, force: true });
    });

    runTests(run, () => directory);
  });
}

type Run = (spec: SandboxSpec, options?: Partial<RunOptions>) => Promise<{ exit: Exit; lines: string[] }>;

function runTests(run: Run, directory: () => string): void {
  test("run reports lines by stream and the exit status", async () => {
    const { exit, lines } = await run(
      script("import sys; print('out'); print('err', file=sys.stderr); print('last', end=''); sys.exit(4)"),
    );
    expect(exit).toEqual({ reason: "exited", code: 4, signal: null });
    expect(lines.toSorted()).toEqual(["stderr: err", "stdout: last", "stdout: out"]);
  });

  test("RUN-4 the environment is the given one and nothing of the platform's", async () => {
    const env = { A: "with 'quotes' \"double\" $HOME\nand a line", "-B": "--dash", PATH: "/usr/bin" };
    const { lines } = await run(script("import os, json; print(json.dumps(dict(os.environ)))", { env }));
    const { PWD: _, LC_CTYPE: __, ...found } = JSON.parse(lines[0]?.slice("stdout: ".length) ?? "{}");
    expect(found).toEqual(env);
  });

  test("arguments arrive unchanged: spaces, quotes, leading dashes, the empty string", async () => {
    const strings = ["--setenv", "-c", "a b", "'", '"', "$(id)", "", "--", "é\n"];
    const { lines } = await run(
      script("", { argv: [python, "-c", "import sys, json; print(json.dumps(sys.argv[1:]))", ...strings] }),
    );
    expect(JSON.parse(lines[0]?.slice("stdout: ".length) ?? "")).toEqual(strings);
  });

  test("a directory with spaces, quotes and a leading dash in its name can be mounted, read and written", async () => {
    const host = join(directory(), `-- it's "odd" $HOME`);
    await mkdir(host);
    await writeFile(join(host, "in.txt"), "read");
    const mounts = [{ host, inside: "/work space/-x", writable: true }];
    const code =
      "print(open('in.txt').read()); open('out.txt', 'w').write('x'); import os; print(sorted(os.listdir('.')))";
    const { exit, lines } = await run(script(code, { mounts, workingDirectory: "/work space/-x" }));
    expect(lines).toEqual(["stdout: read", "stdout: ['in.txt', 'out.txt']"]);
    expect(exit.code).toBe(0);
  });

  test("a time limit ends the command and its children", async () => {
    const started = Date.now();
    const code = "import subprocess; subprocess.Popen(['/usr/bin/sleep', '60']); import time; time.sleep(60)";
    const { exit } = await run(script(code), { timeoutMs: 700 });
    expect(exit.reason).toBe("timed-out");
    expect(Date.now() - started).toBeLessThan(10_000);
  });

  test("an abort signal ends the command", async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 300);
    const { exit } = await run(script("import time; time.sleep(60)"), { signal: controller.signal });
    expect(exit.reason).toBe("stopped");
    const again = await run(script("print(1)"), { signal: controller.signal });
    expect(again).toEqual({ exit: { reason: "stopped", code: null, signal: null }, lines: [] });
  });

  test("RUN-5 a command with endless output ends at the limit, and no more than that is passed on", async () => {
    let bytes = 0;
    const { exit } = await run(script("while True: print('y' * 100)"), {
      outputBytes: 100_000,
      onOutput: (_, line) => {
        bytes += line.length;
      },
    });
    expect(exit.reason).toBe("output-limit");
    expect(bytes).toBeLessThan(300_000);
  });

  test("RUN-5 the number of lines is limited too, even of empty ones", async () => {
    let lines = 0;
    const { exit } = await run(script("import os\nwhile True: os.write(1, b'\\n' * 65536)"), {
      outputBytes: 100_000,
      onOutput: () => {
        lines += 1;
      },
    });
    expect(exit.reason).toBe("output-limit");
    expect(lines).toBeLessThan(10_000);
  });

  test("a command that was killed by a signal reports which", async () => {
    const { exit } = await run(script("import os, signal; os.kill(os.getpid(), signal.SIGABRT)"));
    expect(exit).toEqual({ reason: "signaled", code: null, signal: "SIGABRT" });
  });
}
