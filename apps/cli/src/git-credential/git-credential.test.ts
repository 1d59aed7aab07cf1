import { spawn } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { shortDirectory } from "@towpath/runtime/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

const main = fileURLToPath(new URL("../main.ts", import.meta.url));
let home: string;
let env: Record<string, string | undefined>;

beforeAll(async () => {
  home = await shortDirectory();
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  env = { PATH, NODE_COMPILE_CACHE, HOME: home, XDG_CONFIG_HOME: `${home}/config`, GIT_TERMINAL_PROMPT: "0" };
  await mkdir(`${home}/config/towpath`, { recursive: true });
  await writeFile(
    `${home}/config/towpath/login.json`,
    JSON.stringify({ url: "https://towpath.test", key: "tp_secret" }),
  );
});
afterAll(() => rm(home, { recursive: true, force: true }));

async function run(file: string, args: readonly string[], input = "") {
  const child = spawn(file, args, { env, stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.end(input);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { stdout, stderr };
}
const towpath = (...args: string[]) =>
  run(process.execPath, ["--disable-warning=ExperimentalWarning", main, "git-credential", ...args]);
const fill = (url: string) => run("git", ["credential", "fill"], `url=${url}\n\n`);

test("SRC-3 OPS-4 git gets the key of the terminal's login for its instance, and for no other host", async () => {
  expect((await fill("https://towpath.test/git/acme/weather.git")).stdout).not.toContain("password");
  // As people run it, twice.
  await towpath("setup");
  const done = await towpath("setup");
  expect(done.stdout).toContain("Git now signs in to https://towpath.test by itself");
  expect((await readFile(`${home}/.gitconfig`, "utf8")).match(/helper/g)).toHaveLength(1);
  expect(await readFile(`${home}/.gitconfig`, "utf8")).not.toContain("tp_secret");
  const { stdout } = await fill("https://towpath.test/git/acme/weather.git");
  expect(stdout).toContain("username=towpath\npassword=tp_secret\n");
  for (const other of ["https://github.com/acme/weather.git", "http://towpath.test/x", "https://towpath.test:8443/x"])
    expect((await fill(other)).stdout).not.toContain("tp_secret");
});

test("SRC-3 OPS-4 git gets a credential for the instance's own address only", async () => {
  const ask = async (input: string) =>
    (await run(process.execPath, ["--disable-warning=ExperimentalWarning", main, "git-credential", "get"], input))
      .stdout;
  expect(await ask("protocol=https\nhost=towpath.test\npath=git/acme/weather.git\n\n")).toContain("tp_secret");
  expect(await ask("protocol=https\nhost=towpath.test.example.com\n\n")).toBe("");
  expect(await ask("protocol=http\nhost=towpath.test\n\n")).toBe("");
  expect(await ask("")).toBe("");
  expect((await towpath("store")).stdout).toBe("");
  expect((await towpath("nonsense")).stderr).toContain("towpath git-credential setup");
});
