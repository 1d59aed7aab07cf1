import { execFile, spawnSync } from "node:child_process";
import { glob, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type DiagnosisAction, terminalCommand } from "@towpath/core/delivery/build/contract";
import { currentRelease, thisRelease } from "@towpath/db/release";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../../tests/thorough.ts";
import { projectPath } from "../servers/list.ts";
import { asCommandError, UsageError } from "../terminal/terminal.ts";
import { parse } from "./parse.ts";
import { commands, specs } from "./table.ts";

const main = join(import.meta.dirname, "../main.ts");

async function towpath(...args: string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, HOME: "/nonexistent", NO_COLOR: "1" };
  try {
    const run = promisify(execFile)(process.execPath, [main, ...args], { env });
    run.child.stdin?.end();
    const { stdout, stderr } = await run;
    return { status: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { status: code, stdout, stderr };
  }
}

const shell = (program: string, script: string) => promisify(execFile)(program, ["-c", script]);

test("OPS-4 help comes from the table: every command, its options and examples, by either way to ask", async () => {
  const { stdout } = await towpath("help");
  for (const name of Object.keys(specs)) expect(stdout).toMatch(new RegExp(`^ {2}${name} `, "m"));
  const help = await towpath("help", "deploy");
  for (const option of Object.keys(commands.deploy.options)) expect(help.stdout).toContain(`--${option}`);
  for (const example of commands.deploy.examples) expect(help.stdout).toContain(`towpath ${example}`);
  expect(await towpath("deploy", "--help")).toEqual(help);
});

test("OPS-3 --version names version, commit and schema of the release, and every workspace has that version", async () => {
  const release = currentRelease();
  expect(release.commit).toMatch(/^[0-9a-f]{8,}$/);
  expect((await towpath("--version")).stdout).toBe(`${thisRelease()}\n`);
  expect(JSON.parse((await towpath("version", "--json")).stdout)).toEqual(release);
  const root = join(import.meta.dirname, "../../../..");
  const manifests: string[] = [];
  for await (const path of glob(["package.json", "{apps,packages,tests}/*/package.json", "tests/package.json"], {
    cwd: root,
  }))
    manifests.push(path);
  expect(manifests.length).toBeGreaterThan(25);
  for (const path of manifests)
    expect([path, JSON.parse(await readFile(join(root, path), "utf8")).version]).toEqual([path, release.version]);
});

test("OPS-4 a command that stops half-way says so", async () => {
  const hanging = "data:text/javascript,globalThis.fetch = () => new Promise(() => {})";
  const env = { ...process.env, TOWPATH_URL: "http://localhost:1", TOWPATH_API_KEY: "key", NO_COLOR: "1" };
  const run = promisify(execFile)(process.execPath, ["--import", hanging, main, "list"], { env });
  await expect(run).rejects.toMatchObject({ code: 13, stderr: expect.stringContaining("stopped half-way") });
});

test("OPS-4 an error that no command waits for is one line; --verbose shows its stack", async () => {
  // As of a timer: once the command listens for such errors.
  const failing = `process.on("newListener", (name) => {
    if (name === "uncaughtException") setImmediate(() => { throw new Error("the timer failed"); });
  });`;
  const options = ["--import", `data:text/javascript,${encodeURIComponent(failing)}`];
  const failed = (...args: string[]) =>
    promisify(execFile)(process.execPath, [...options, main, "help", ...args], {
      env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, NO_COLOR: "1" },
    });
  await expect(failed()).rejects.toMatchObject({
    code: 1,
    stderr: "\n✗ the timer failed\n  (--verbose shows where it happened.)\n",
  });
  await expect(failed("--verbose")).rejects.toMatchObject({ stderr: expect.stringMatching(/^\s+at /m) });
});

const wrongUsages = [
  [["nonsense"], "There is no command nonsense"],
  [["settings", "my-server-one", "--no-public"], "There is no --no-public, only --public. See towpath help settings."],
  [["help", "nonsense"], "There is no command nonsense"],
  [["logs"], "Usage: towpath logs NAME"],
  [["status", "one", "two"], "Usage: towpath status NAME"],
  [["status", "one", "--bogus"], "Unknown option"],
  [["logs", "one", "--server", "--build"], "not both"],
  [["env", "one", "change"], "is not list, set, remove or check"],
  [["env", "one", "set", "A=1", "--environment", "staging"], "must be production or preview, not staging"],
  [["env", "one", "set", "A=1", "b-c=2"], "b-c: Key name must start with"],
  [["env", "one", "set", "A=1", "B"], "B has no value: pass it on stdin, or as B=VALUE. Nothing was set."],
  [["env", "one", "set", "A", "B"], "A and B have no value"],
  [["env", "one", "sett", "A=1"], "Did you mean set?"],
  [["lgos", "one"], "There is no command lgos. Did you mean logs?"],
  [["logs", "one", "--eror"], "Did you mean --errors? See towpath help logs."],
  [["logs", "one", "--limit", "0"], "--limit must be a number between 1 and 1000, not 0."],
  [["logs", "one", "tool:echo", "--server"], "tool:echo is for the log of requests, not for that of the server."],
  [["logs", "one", "abcd", "efgh", "--build"], "efgh is for the log of requests, not for that of a build."],
  [["logs", "one", "--build", "--errors"], "--errors is for the log of requests"],
  [["env", "one", "list", "A"], "list takes no names: A."],
  [["env", "one", "remove", "A", "--sensitive"], "--sensitive is for set only."],
  [["approve", "one", "--decline"], "Name what to decline"],
  [["help", "list", "logs"], "Usage: towpath help [COMMAND]."],
  [["--version", "list"], "Usage: towpath version"],
  [["settings", "one", "--public", "--private"], "Pass only one of"],
  [["deploy", "/nonexistent/here", "--name", "my-server-one"], "There is no directory /nonexistent/here."],
  [["up", "--port", "0"], "must be a port between 1 and 65535"],
  [["up", "--forge-port", "8090"], "--forge-port was removed: leave it out, since"],
  [["login", "ftp://example.com"], "is not the address of an instance"],
  [["test", "unti"], "There is no stage unti. Did you mean unit?"],
  [["test", "bench", "gatway"], "There is no benchmark gatway. Did you mean gateway?"],
  [["deploy", ".", "--public"], "Name the server"],
] as const;
/** By default every third: each starts a process. */
const triedUsages = wrongUsages.filter((_, at) => isThorough || at % 3 === 0);

test.each(triedUsages)("OPS-4 wrong usage exits with status 2 and shows the right one: %j", async (args, text) => {
  const { status, stdout, stderr } = await towpath(...args);
  expect([status, stdout, stderr]).toEqual([2, "", expect.stringContaining(text)]);
});

test("OPS-4 a refusal has exit status 1", async () => {
  expect(await towpath("list")).toMatchObject({ status: 1, stderr: expect.stringContaining("towpath login URL") });
});

test("OPS-4 a command whose reader closes the pipe ends silently", async () => {
  const command = `'${process.execPath}' '${main}' help deploy`;
  // The reader is gone before the first line is written.
  const { stdout, stderr } = await shell("bash", `{ sleep 0.2; ${command}; echo "exit $?" >&2; } | true; wait`);
  expect([stdout, stderr]).toEqual(["", "exit 141\n"]);
});

test("OPS-4 every example of the table can be parsed as the table says", () => {
  for (const [name, { examples }] of Object.entries(specs)) {
    for (const example of examples) {
      const [, ...quoted] = example.replace(/ [<>] .*$/, "").match(/'[^']*'|\S+/g) ?? [];
      expect(example.startsWith(name)).toBe(true);
      const args = quoted.map((each) => each.replace(/^'(.*)'$/, "$1"));
      expect(() => parse(name as keyof typeof commands, args), example).not.toThrow();
    }
  }
  const wrong = () => parse("status", []);
  expect(wrong).toThrow(UsageError);
  expect(() => projectPath("../one")).toThrow(UsageError);
  expect(asCommandError(new Error("x"))).not.toBeInstanceOf(UsageError);
});

test("BLD-2 OPS-4 each command that a remedy names for the settings is one that the terminal takes", () => {
  const actions: readonly DiagnosisAction[] = [
    { kind: "entrypoint", candidates: ["src/my server.py:app", "b.py"] },
    { kind: "root-directory", candidates: ["servers/one"] },
    { kind: "variables", names: ["API_KEY", "API_URL"] },
    { kind: "settings", section: "build" },
    { kind: "settings", section: "variables" },
    { kind: "settings", section: "package" },
  ];
  const parsed = actions.map((action) => {
    const [program, name = "", ...quoted] = (terminalCommand(action) ?? "").match(/'[^']*'|\S+/g) ?? [];
    expect([program, Object.keys(specs)]).toEqual(["./towpath", expect.arrayContaining([name])]);
    return parse(
      name as keyof typeof commands,
      quoted.map((each) => each.replace(/^'(.*)'$/, "$1")),
    );
  });
  expect(parsed[0]).toMatchObject({ values: { entrypoint: "src/my server.py:app" } });
  expect(parsed[2]).toMatchObject({ positionals: ["NAME", "set", "API_KEY=…", "API_URL=…"] });
  for (const kind of ["rebuild", "operator"] as const) expect(terminalCommand({ kind })).toBeNull();
});

test("OPS-4 the shell completes commands, and the options of each", async () => {
  const { stdout: script } = await towpath("completion", "bash");
  const completed = async (...argv: string[]) => {
    const call = `COMP_WORDS=(towpath ${argv.map((each) => `'${each}'`).join(" ")}); COMP_CWORD=${argv.length}`;
    const { stdout } = await shell("bash", `${script}\n${call}; _towpath; echo "\${COMPREPLY[@]}"`);
    return stdout.trim().split(" ");
  };
  expect(await completed("de")).toEqual(["deploy", "delete"]);
  expect(await completed("logs", "--fol")).toEqual(["--follow"]);
  expect(await completed("logs", "--")).toEqual([
    ...Object.keys(commands.logs.options).map((option) => `--${option}`),
    "--help",
  ]);
  expect(await completed("help", "st")).toEqual(["status"]);
  expect(await completed("env", "one", "")).toEqual(["list", "set", "remove", "check"]);
  expect(await completed("deploy", ".", "--auth", "pass")).toEqual(["passthrough"]);
  expect((await towpath("completion", "cmd")).status).toBe(2);
});

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-completion-"));
});
afterAll(() => rm(directory, { recursive: true }));

const has = (program: string) => spawnSync(program, ["-c", ":"]).status === 0;

test.skipIf(!has("zsh"))("OPS-4 zsh completes at the first key, loaded from its path or sourced", async () => {
  const { stdout: script } = await towpath("completion", "zsh");
  await writeFile(join(directory, "_towpath"), script);
  // Replaces zsh's own functions, which work only while a line is edited.
  const own = `_describe() { print -r -- $commands } ; _arguments() { print -rl -- "$@" } ; compdef() { print $* }`;
  const ask = async (load: string, ...argv: string[]) =>
    (await shell("zsh", `${own}\n${load}\nwords=(towpath ${argv.join(" ")} ''); CURRENT=$#words; _towpath`)).stdout;
  const loaded = `fpath=(${directory}); autoload -Uz _towpath`;
  const shown = await ask(loaded);
  for (const name of Object.keys(specs)) expect(shown).toContain(`${name}:`);
  expect(await ask(loaded, "completion")).toContain("1:argument:(bash zsh fish)\n");
  expect(await ask(loaded, "deploy")).toContain("--auth[towpath-cloud, towpath-public or passthrough\\: see");
  expect(await ask(`. ${directory}/_towpath`, "env", "one")).toMatch(
    /^_towpath towpath .\/towpath\n(.*\n)+2:argument:\(list set remove\)\n/,
  );
});

test.skipIf(!has("fish"))("OPS-4 fish completes commands, options, and what their values can be", async () => {
  const { stdout: script } = await towpath("completion", "fish");
  const completed = async (line: string) => {
    const { stdout } = await shell("fish", `${script}\ncomplete -C '${line}'`);
    return stdout.split("\n").flatMap((each) => each.split("\t")[0] || []);
  };
  expect(await completed("towpath ")).toEqual(Object.keys(specs).toSorted());
  expect(await completed("./towpath logs --f")).toEqual(["--follow"]);
  expect(await completed("towpath env one ")).toEqual(["list", "remove", "set"]);
  expect(await completed("towpath deploy . --auth ")).toEqual(["passthrough", "towpath-cloud", "towpath-public"]);
  expect(await completed("towpath status ")).toEqual([]);
});
