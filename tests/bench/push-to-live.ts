// From a command or a push to the new version's answer: cold cache, warm cache, reused dependencies, code only.
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { z } from "zod";
import { instancePorts, startTowpath, towpath } from "../instance/towpath-process.ts";
import { callWord, serverSource, writeServer } from "./echo-server.ts";
import { printTable, timed } from "./measure.ts";

const run = promisify(execFile);
const dataDirectory = await mkdtemp(join(tmpdir(), "towpath-bench-"));
const instance = await startTowpath(dataDirectory, await instancePorts());

async function deploy(directory: string, name: string): Promise<number> {
  return timed(async () => {
    const { status, stdout, stderr } = await towpath(
      "deploy",
      directory,
      "--name",
      name,
      "--public",
      "--data-dir",
      dataDirectory,
    );
    if (status !== 0) throw new Error(stdout + stderr);
  });
}

/** Asks the instance for the repository's address, as the command line does. */
async function pushUrl(name: string): Promise<string> {
  const token = (await readFile(join(dataDirectory, "operator-token"), "utf8")).trim();
  const response = await fetch(`${instance.url}/api/v1/repositories`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ name }),
  });
  return z.object({ pushUrl: z.string() }).parse(await response.json()).pushUrl;
}

async function pushCode(clone: string, word: string, url: string): Promise<number> {
  const git = (...args: string[]) =>
    run("git", ["-C", clone, "-c", "user.name=bench", "-c", "user.email=bench@localhost", ...args]);
  await writeFile(join(clone, "server.py"), serverSource(word));
  await git("commit", "--quiet", "--all", "--message", word);
  return timed(async () => {
    await git("push", "--quiet", "origin", "HEAD");
    const deadline = Date.now() + 60_000;
    while ((await callWord(url)) !== word) {
      if (Date.now() > deadline) throw new Error(`${word} is not live after 60 s`);
      await sleep(20);
    }
  });
}

try {
  const first = await writeServer("one", "fastmcp==4.1.2\n");
  const cold = await deploy(first, "bench-cold");
  const reused = [
    await deploy(await writeServer("two", "fastmcp==4.1.2\n"), "bench-reused"),
    await deploy(await writeServer("three", "fastmcp==4.1.2\n"), "bench-again-one"),
  ];
  const warm = [
    await deploy(await writeServer("four", "fastmcp==4.1.2\nidna\n"), "bench-warm-one"),
    await deploy(await writeServer("five", "fastmcp==4.1.2\npyyaml\n"), "bench-warm-two"),
  ];
  const clone = join(await mkdtemp(join(tmpdir(), "towpath-bench-clone-")), "clone");
  await run("git", ["clone", "--quiet", await pushUrl("bench-cold"), clone]);
  const url = `${instance.serversUrl}/bench-cold/mcp`;
  const pushes: number[] = [];
  for (let index = 0; index < 7; index++) pushes.push(await pushCode(clone, `pushed-${index}`, url));
  printTable("To live", [
    { what: "deploy, cold package cache (index in reach)", values: [cold], target: "≤ 30000" },
    { what: "deploy, warm cache, new dependency set", values: warm, target: "≤ 5000" },
    { what: "deploy of a new project, dependency layer reused", values: reused },
    { what: "git push of code only → new version answers", values: pushes, target: "≤ 2000" },
  ]);
} finally {
  await instance.stop();
  await rm(dataDirectory, { recursive: true });
}
