import { execFile } from "node:child_process";
import { mkdir, mkdtemp, open, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createSshKey } from "@towpath/crypto";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { startSshAgent } from "./ssh-agent.ts";

const key = createSshKey("towpath-acme");
const env = { PATH: process.env.PATH, HOME: "/nonexistent", SSH_AUTH_SOCK: "agent" };
let root: string;
/** Longer than a socket's path may be. */
let directory: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "towpath-ssh-agent-"));
  directory = join(root, "a".repeat(90), "b".repeat(90));
  await mkdir(directory, { recursive: true });
});
afterAll(() => rm(root, { recursive: true, force: true }));

const run = async (command: string, args: readonly string[]) =>
  (await promisify(execFile)(command, args, { cwd: directory, env })).stdout;

test("SRC-2 KEY-2 OpenSSH signs with a deploy key that is in no file, and only with that one", async () => {
  const agent = await startSshAgent(key.privateKey, directory);
  onTestFinished(agent.close);
  expect(await run("ssh-add", ["-L"])).toBe(`${agent.publicKey.trim()} towpath\n`);
  expect(key.publicKey.startsWith(agent.publicKey.trim())).toBe(true);
  await writeFile(join(directory, "key.pub"), agent.publicKey);
  await writeFile(join(directory, "data"), "signed");
  await run("ssh-keygen", ["-q", "-Y", "sign", "-f", "key.pub", "-n", "test", "data"]);
  await writeFile(join(directory, "signers"), `acme ${agent.publicKey}`);
  const verify = ["-Y", "verify", "-f", "signers", "-I", "acme", "-n", "test", "-s", "data.sig"];
  const verifying = promisify(execFile)("ssh-keygen", verify, { cwd: directory, env });
  verifying.child.stdin?.end("signed");
  expect((await verifying).stdout).toContain("Good");
  await writeFile(join(directory, "other.pub"), createSshKey("other").publicKey);
  await expect(run("ssh-keygen", ["-q", "-Y", "sign", "-f", "other.pub", "-n", "test", "data"])).rejects.toThrow();
  for (const name of await readdir(directory)) {
    const isFile = (await stat(join(directory, name))).isFile();
    if (isFile) expect(await readFile(join(directory, name), "utf8")).not.toContain("PRIVATE");
  }
});

test("SRC-2 an agent takes messages in pieces, refuses what it doesn't know, and ends with its connections", async () => {
  const agent = await startSshAgent(key.privateKey, directory);
  onTestFinished(agent.close);
  const socket = connect(join(await shortPath(), "agent"));
  const received: Buffer[] = [];
  socket.on("data", (chunk) => received.push(chunk));
  const closed = new Promise((done) => socket.once("close", done));
  for (const byte of [0, 0, 0, 1, 27, 0, 0, 0, 1, 13]) socket.write(Buffer.from([byte]));
  await expect.poll(() => Buffer.concat(received)).toEqual(Buffer.from([0, 0, 0, 1, 5, 0, 0, 0, 1, 5]));
  socket.write(Buffer.from([0x7f, 0, 0, 0]));
  await closed;
  await expect(startSshAgent("another text", directory)).rejects.toThrow(/not a private key/);
});

/** Sockets can't be named by a path of more than 107 bytes. */
async function shortPath(): Promise<string> {
  const parent = await open(directory);
  onTestFinished(() => parent.close());
  return `/proc/self/fd/${parent.fd}`;
}
