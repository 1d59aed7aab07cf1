import { execFile } from "node:child_process";
import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { shortDirectory } from "@towpath/runtime/testing";
import { expect, test, vi } from "vitest";
import { isThorough } from "../../../../tests/thorough.ts";
import { pushDirectory } from "./push-directory.ts";

const run = promisify(execFile);

test("GH-2 the instance gets the credential, and no process has it among its arguments", async () => {
  const directory = await shortDirectory();
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A git that records its arguments, and then runs the real one.
  await mkdir(`${directory}/bin`);
  await writeFile(
    `${directory}/bin/git`,
    `#!/bin/sh\nprintf '%s\\n' "$@" >>${directory}/calls\nexec /usr/bin/git "$@"\n`,
  );
  await chmod(`${directory}/bin/git`, 0o755);
  vi.stubEnv("PATH", `${directory}/bin:${process.env.PATH}`);
  try {
    await mkdir(`${directory}/work`);
    const { port } = server.address() as AddressInfo;
    const remote = { url: `http://127.0.0.1:${port}/git/ada/tools.git`, password: "very secret" };
    await expect(pushDirectory(`${directory}/work`, { ...remote, branch: "main", overwrite: false })).rejects.toThrow(
      "could not be pushed",
    );
    const calls = await readFile(`${directory}/calls`, "utf8");
    expect(calls).toContain(`http://127.0.0.1:${port}/git/ada/tools.git`);
    expect(calls).not.toContain("secret");
    expect(seen).toContain(`Basic ${Buffer.from("towpath:very secret").toString("base64")}`);
  } finally {
    vi.unstubAllEnvs();
    server.close();
    await rm(directory, { recursive: true, force: true });
  }
});

test.runIf(isThorough)("OPS-4 someone else's push is not overwritten silently", async () => {
  const directory = await shortDirectory();
  const [bare, mine, theirs] = [`${directory}/bare.git`, `${directory}/mine`, `${directory}/theirs`];
  const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
  const git = async (...args: string[]) => (await run("git", ["-C", theirs, ...identity, ...args])).stdout.trim();
  const remote = { url: `file://${bare}`, password: "", branch: "main", overwrite: false };
  try {
    await run("git", ["init", "--quiet", "--bare", "--initial-branch=main", bare]);
    await mkdir(mine);
    await writeFile(`${mine}/.DS_Store`, "");
    await expect(pushDirectory(mine, remote)).rejects.toThrow("There is nothing to deploy");
    await writeFile(`${mine}/server.py`, "x = 1\n");
    await writeFile(`${mine}/old.py`, "");
    const first = await pushDirectory(mine, remote);
    expect(await pushDirectory(mine, remote)).toEqual({ ...first, changed: false });
    await rm(`${mine}/old.py`);
    expect((await pushDirectory(mine, remote)).changed).toBe(true);

    await run("git", ["clone", "--quiet", bare, theirs]);
    expect(await git("ls-files")).toBe("server.py");
    await writeFile(`${theirs}/fix.py`, "");
    await git("add", ".");
    await git("commit", "--quiet", "-m", "Fix it");
    await git("push", "--quiet");
    await expect(pushDirectory(mine, remote)).rejects.toThrow(/"Fix it" by Ada[\s\S]*--overwrite/);
    expect(await git("ls-remote", "origin", "refs/heads/main")).toContain(await git("rev-parse", "HEAD"));
    // The directory as they have it: nothing to undo.
    expect((await pushDirectory(theirs, remote)).changed).toBe(false);
    expect((await pushDirectory(mine, { ...remote, overwrite: true })).changed).toBe(true);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
