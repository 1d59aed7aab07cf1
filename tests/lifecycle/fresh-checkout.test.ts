import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { instancePorts, repositoryRoot } from "../instance/towpath-process.ts";

/** The files of the repository without anything that was installed, built or stored beside them. */
async function checkOut(directory: string): Promise<void> {
  const patterns = (await readFile(join(repositoryRoot, ".gitignore"), "utf8")).split("\n").filter(Boolean);
  const endings = patterns.filter((each) => each.startsWith("*")).map((each) => each.slice(1));
  const names = new Set([".git", ...patterns.map((each) => each.replace(/\/$/, ""))]);
  await cp(repositoryRoot, directory, {
    recursive: true,
    filter: (path) => !names.has(basename(path)) && !endings.some((ending) => path.endsWith(ending)),
  });
}

test("OPS-1 up in a fresh checkout installs what is missing, builds the site and is ready", async () => {
  const directory = await mkdtemp(join(tmpdir(), "towpath-new-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const checkout = join(directory, "towpath");
  await checkOut(checkout);
  const ports = await instancePorts();
  const args = ["up", "--data-dir", join(directory, "data"), "--port", String(ports.web)];
  args.push("--gateway-port", String(ports.gateway));
  const child = spawn(join(checkout, "towpath"), args, {
    // The system's programs only: nothing that this run has brought.
    env: {
      ...process.env,
      NO_COLOR: "1",
      PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      NODE_COMPILE_CACHE: undefined,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const ready = Promise.withResolvers<void>();
  const read = (chunk: Buffer) => {
    output += chunk;
    if (output.includes("Towpath is ready:")) ready.resolve();
  };
  child.stdout.on("data", read);
  child.stderr.on("data", read);
  const closed = once(child, "close");
  child.once("close", (status) => ready.reject(new Error(`up ended with status ${status}:\n${output}`)));
  onTestFinished(async () => {
    if (child.exitCode === null) child.kill("SIGTERM");
    await closed;
  });
  await ready.promise;
  expect(output).toContain("Installing npm packages");
  expect(output).toContain("Building the site");
  expect((await fetch(`http://localhost:${ports.web}/healthz`)).status).toBe(200);
  expect((await fetch(`http://localhost:${ports.gateway}/-/healthz`)).status).toBe(200);
  child.kill("SIGTERM");
  expect((await closed)[0], output).toBe(0);
}, 600_000);
