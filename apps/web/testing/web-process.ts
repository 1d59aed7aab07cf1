import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@towpath/role/testing";
import { builtWeb } from "./built-web.ts";

export type WebProcess = {
  /** Its public origin, where it also listens. */
  readonly url: string;
  readonly operatorToken: string;
  readonly dataDirectory: string;
  /** Everything that it has printed. */
  output(): string;
  /** Sends SIGTERM. Resolves with the exit code. */
  stop(): Promise<{ code: number | null }>;
};

/** Starts the production build as a process on a free port. */
export async function startWeb(options: {
  readonly databaseUrl: string;
  readonly environment?: (url: string) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  /** For a process that nothing stops: vitest ends its workers by a signal. */
  readonly endsWithParent?: boolean;
}): Promise<WebProcess> {
  const dist = await builtWeb();
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const dataDirectory = await mkdtemp(join(tmpdir(), "towpath-web-"));
  const operatorToken = randomBytes(32).toString("base64url");
  await writeFile(join(dataDirectory, "operator-token"), `${operatorToken}\n`, { mode: 0o600 });
  const hook = options.endsWithParent ? ["--import", join(import.meta.dirname, "end-with-parent.ts")] : [];
  const child = spawn(process.execPath, [...hook, join(import.meta.dirname, "../serve.ts"), dist], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      DATABASE_URL: options.databaseUrl,
      TOWPATH_DATA_DIR: dataDirectory,
      TOWPATH_SECRET: "a secret for tests that is long enough",
      TOWPATH_URL: url,
      TOWPATH_PORT: String(port),
      TOWPATH_SERVER_URL: "http://localhost:8080/{name}",
      ...(await options.environment?.(url)),
    },
  });
  let output = "";
  const exited = new Promise<number | null>((done) => child.once("exit", done));
  const ready = new Promise<void>((done, fail) => {
    const read = (chunk: Buffer) => {
      output += chunk;
      if (output.includes('"msg":"ready"')) done();
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    void exited.then((code) => fail(new Error(`web ended with ${code} before it was ready:\n${output}`)));
  });
  await ready;
  return {
    url,
    operatorToken,
    dataDirectory,
    output: () => output,
    async stop() {
      child.kill("SIGTERM");
      const code = await exited;
      await rm(dataDirectory, { recursive: true, force: true });
      return { code };
    },
  };
}
