import { execFile } from "node:child_process";
import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { openDatabase } from "@towpath/db";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { parse } from "yaml";
import { operatorPost } from "../instance/operator.ts";
import { plainRequirements, plainServer } from "../instance/plain-server.ts";
import { databaseUrlOf } from "../instance/processes.ts";
import { repositoryRoot } from "../instance/towpath-process.ts";
import { isThorough } from "../thorough.ts";

const instance = { url: inject("url"), dataDirectory: inject("dataDirectory") };
const { pool: database } = openDatabase(databaseUrlOf(instance.dataDirectory), { maxConnections: 1 });
let checkout: string;
let key: string;

type Step = { readonly shell: string; readonly env: Record<string, string>; readonly run: string };

/** The action of the documentation, as a runner reads it. */
async function documentedStep(): Promise<Step> {
  const page = await readFile(join(repositoryRoot, "apps/web/src/features/site/docs/pages/ci.md"), "utf8");
  const blocks = [...page.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, text = ""]) => parse(text));
  const [step, ...more] = blocks.find(({ runs }) => runs)?.runs.steps ?? [];
  expect([step.shell, more]).toEqual(["bash", []]);
  return step;
}

beforeAll(async () => {
  checkout = await mkdtemp(join(tmpdir(), "towpath-ci-"));
  await writeFile(join(checkout, "requirements.txt"), plainRequirements);
  await writeFile(join(checkout, "echo.py"), plainServer({ echo: '"hello"' }));
  await git("init", "--quiet", "--initial-branch", "main");
  await commit("First");
  const { rows } = await database.query("SELECT slug FROM organization ORDER BY created_at LIMIT 1");
  const created = await operatorPost(instance, `organizations/${rows[0].slug}/api-keys`, {
    name: "CI",
    scope: "manage",
  });
  key = String(created.key);
});
afterAll(async () => {
  await database.end();
  await rm(checkout, { recursive: true, force: true });
});

const git = (...args: string[]) =>
  promisify(execFile)("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...args], { cwd: checkout });

async function commit(message: string): Promise<void> {
  await git("add", ".");
  await git("commit", "--quiet", "-m", message);
}

/** Runs the step as a runner does: bash with these options, the inputs in its variables. */
async function runStep(given: Readonly<Record<string, string>>): Promise<{ status: number; printed: string }> {
  const { env, run } = await documentedStep();
  const inputs: Record<string, string> = { url: instance.url, key, server: "deployed-by-ci", ...given };
  const filled = Object.entries(env).map(([name, text]) => [
    name,
    text.replace(/\$\{\{ inputs\.(\w+) \}\}/, (_, input) => inputs[input] ?? ""),
  ]);
  const script = join(checkout, "../", `${checkout.split("/").at(-1)}.sh`);
  await writeFile(script, run);
  try {
    const options = { cwd: checkout, env: { PATH: process.env.PATH, HOME: checkout, ...Object.fromEntries(filled) } };
    const bash = ["--noprofile", "--norc", "-e", "-o", "pipefail", script];
    const { stdout, stderr } = await promisify(execFile)("bash", bash, options);
    return { status: 0, printed: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { status: code, printed: stdout + stderr };
  } finally {
    await rm(script);
  }
}

test.runIf(isThorough)(
  "OPS-4 the documented action deploys a commit, deploys the next one, and fails when the build fails",
  async () => {
    const first = await runStep({});
    expect(first).toEqual({ status: 0, printed: expect.stringContaining("Live: http") });
    await appendFile(join(checkout, "echo.py"), "\n# The second version.\n");
    await commit("Second");
    expect(await runStep({})).toEqual({ status: 0, printed: expect.stringContaining("Live: http") });
    await appendFile(join(checkout, "echo.py"), "\nimport nothing_of_this_name\n");
    await commit("Broken");
    const broken = await runStep({});
    expect(broken.status).not.toBe(0);
    expect(broken.printed).toMatch(/The build ended as failed\.[\s\S]*nothing_of_this_name/);
    for (const { printed } of [first, broken]) expect(printed).not.toContain(key);
    const sql = `SELECT status, commit_message FROM build JOIN project ON project.id = project_id
    WHERE project.name = 'deployed-by-ci' ORDER BY sequence`;
    expect((await database.query(sql)).rows).toEqual([
      { status: "succeeded", commit_message: "First" },
      { status: "succeeded", commit_message: "Second" },
      { status: "failed", commit_message: "Broken" },
    ]);
  },
);

test("OPS-4 the documented action fails, and says why, with a wrong key", async () => {
  const wrong = await runStep({ key: `${key.slice(0, -1)}!` });
  expect(wrong.status).not.toBe(0);
  expect(wrong.printed).toContain("Create another one: Settings → API keys");
});
