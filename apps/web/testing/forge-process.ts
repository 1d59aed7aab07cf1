import { spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type ForgeProcess = { readonly url: string; stop(): Promise<void> };

/** Settings of a GitHub App at the local forge `forgeUrl`. */
export function forgeSettings(forgeUrl: string): Record<string, string> {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return {
    GITHUB_APP_ID: "1",
    GITHUB_APP_SLUG: "towpath-test",
    GITHUB_APP_PRIVATE_KEY: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    GITHUB_CLIENT_ID: "Iv1.test",
    GITHUB_CLIENT_SECRET: "a client secret for the test forge",
    GITHUB_WEBHOOK_SECRET: "a webhook secret for the test forge",
    GITHUB_URL: forgeUrl,
    GITHUB_API_URL: `${forgeUrl}/api/v3`,
  };
}

/** Starts the local forge, the stand-in for GitHub (GH-3), as a process. */
export async function startForge(call: {
  readonly port: number;
  readonly webUrl: string;
  readonly settings: Readonly<Record<string, string>>;
}): Promise<ForgeProcess> {
  const directory = await mkdtemp(join(tmpdir(), "towpath-forge-"));
  const url = `http://localhost:${call.port}`;
  const child = spawn(process.execPath, [join(import.meta.dirname, "../../../tests/github/src/main.ts")], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      HOME: directory,
      TOWPATH_DATA_DIR: directory,
      FORGE_PORT: String(call.port),
      FORGE_URL: url,
      FORGE_WEBHOOK_URL: `${call.webUrl}/api/github/webhooks`,
      FORGE_CALLBACK_URL: `${call.webUrl}/api/github/callback`,
      FORGE_SETUP_URL: `${call.webUrl}/api/github/setup`,
      ...call.settings,
    },
  });
  let output = "";
  const exited = new Promise<void>((done) => child.once("exit", () => done()));
  await new Promise<void>((done, fail) => {
    const read = (chunk: Buffer) => {
      output += chunk;
      if (output.includes('"msg":"ready"')) done();
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    void exited.then(() => fail(new Error(`the forge ended:\n${output}`)));
  });
  return {
    url,
    async stop() {
      child.kill("SIGTERM");
      await exited;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
