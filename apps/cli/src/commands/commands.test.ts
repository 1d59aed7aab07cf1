import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { asCommandError, UsageError } from "../terminal/terminal.ts";
import { parse } from "./parse.ts";
import { commands, specs } from "./table.ts";

const main = join(import.meta.dirname, "../main.ts");

async function towpath(...args: string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  const env = { PATH: process.env.PATH, HOME: "/nonexistent", NO_COLOR: "1" };
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [main, ...args], { env });
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
  expect((await towpath("--version")).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(JSON.parse((await towpath("version", "--json")).stdout)).toEqual({ version: expect.any(String) });
});

test("OPS-4 wrong use has exit status 2 and says what is right, a refusal 1", async () => {
  for (const [args, text] of [
    [["nonsense"], "There is no command nonsense"],
    [["help", "nonsense"], "There is no command nonsense"],
    [["logs"], "Usage: towpath logs NAME"],
    [["status", "one", "two"], "Usage: towpath status NAME"],
    [["status", "one", "--bogus"], "Unknown option"],
    [["logs", "one", "--server", "--build"], "not both"],
    [["env", "one", "change"], "is not list, set or remove"],
    [["deploy", ".", "--public"], "Name the server"],
  ] as const) {
    const { status, stdout, stderr } = await towpath(...args);
    expect([args, status, stdout, stderr]).toEqual([args, 2, "", expect.stringContaining(text)]);
  }
  expect(await towpath("list")).toMatchObject({ status: 1, stderr: expect.stringContaining("towpath login URL") });
});

test("OPS-4 every example of the table can be parsed as the table says", () => {
  for (const [name, { examples }] of Object.entries(specs)) {
    for (const example of examples) {
      const [, ...words] = example.replace(/ [<>] .*$/, "").match(/'[^']*'|\S+/g) ?? [];
      expect(example.startsWith(name)).toBe(true);
      const args = words.map((word) => word.replace(/^'(.*)'$/, "$1"));
      expect(() => parse(name as keyof typeof commands, args), example).not.toThrow();
    }
  }
  const wrong = () => parse("status", []);
  expect(wrong).toThrow(UsageError);
  expect(asCommandError(new Error("x"))).not.toBeInstanceOf(UsageError);
});

test("OPS-4 the shell completes commands, and the options of each", async () => {
  const { stdout: script } = await towpath("completion", "bash");
  const completed = async (...words: string[]) => {
    const call = `COMP_WORDS=(towpath ${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length}`;
    const { stdout } = await shell("bash", `${script}\n${call}; _towpath; echo "\${COMPREPLY[@]}"`);
    return stdout.trim().split(" ");
  };
  expect(await completed("de")).toEqual(["deploy", "delete"]);
  expect(await completed("logs", "--fol")).toEqual(["--follow"]);
  expect(await completed("logs", "--")).toEqual([
    ...Object.keys(commands.logs.options).map((option) => `--${option}`),
    "--help",
  ]);
  for (const name of ["zsh", "fish"]) {
    const { stdout } = await towpath("completion", name);
    for (const command of Object.keys(specs)) expect(stdout).toContain(command);
    for (const option of Object.keys(commands.deploy.options)) expect(stdout).toContain(option);
  }
  expect((await towpath("completion", "cmd")).status).toBe(2);
});
