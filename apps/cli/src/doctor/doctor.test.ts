import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { z } from "zod";
import { checks, runChecks } from "./checks.ts";
import { emptyDirectory, factsOf } from "./testing/facts-of.ts";

const main = join(import.meta.dirname, "../main.ts");

async function doctor(settings: Record<string, string>, ...args: string[]) {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, HOME: "/nonexistent", NO_COLOR: "1", ...settings };
  return await promisify(execFile)(process.execPath, [main, "doctor", ...args], { env }).then(
    ({ stdout, stderr }) => ({ status: 0, stdout, stderr }),
    (error: { code: number; stdout: string; stderr: string }) => ({
      status: error.code,
      stdout: error.stdout,
      stderr: error.stderr,
    }),
  );
}

const answerSchema = z.strictObject({
  ok: z.boolean(),
  findings: z.array(
    z.union([
      z.strictObject({ name: z.string(), state: z.enum(["ok", "not-needed"]), detail: z.string() }),
      z.strictObject({ name: z.string(), state: z.literal("fix"), detail: z.string(), remedy: z.string().min(1) }),
    ]),
  ),
});

test("OPS-6 doctor, where up never ran: every check as text and as JSON, exit status 1 for what is to be fixed, nothing made", async () => {
  const directory = await emptyDirectory();
  const data = join(directory, "data");
  const settings = { TOWPATH_SMTP_URL: "smtp://127.0.0.1:9", TOWPATH_MAIL_FROM: "towpath@example.com" };
  const asJson = await doctor(settings, "--data-dir", data, "--json");
  const { ok, findings } = answerSchema.parse(JSON.parse(asJson.stdout));
  expect([ok, asJson.status]).toEqual([false, 1]);
  expect(findings.find(({ name }) => name === "mail server")).toMatchObject({ state: "fix" });
  const names = findings.map(({ name }) => name);
  for (const name of [
    "kernel",
    "user namespaces",
    "control groups",
    "inodes",
    "clock",
    "port 3000",
    "database",
    "secret",
    "leftovers",
  ])
    expect(names).toContain(name);
  const asText = await doctor(settings, "--data-dir", data);
  expect(asText.status).toBe(1);
  expect(asText.stdout).toMatch(
    /^fix this {4}mail server +127\.0\.0\.1:9: .*\n {12}What to do: Look at TOWPATH_SMTP_URL/m,
  );
  expect(asText.stdout).toMatch(/^not needed {2}bucket +artifacts are in the data directory$/m);
  expect(asText.stdout).toMatch(/\n! \d+ checked, \d+ to fix\.\n$/);
  expect(await readdir(directory)).toEqual([]);
}, 60_000);

test("OPS-6 doctor: settings that up refuses are reported as up does", async () => {
  const { status, stdout } = await doctor({ TOWPATH_PORT: "x" }, "--data-dir", await emptyDirectory(), "--json");
  expect([status, answerSchema.parse(JSON.parse(stdout))]).toMatchObject([
    1,
    { ok: false, findings: [{ name: "settings", state: "fix", detail: expect.stringContaining("TOWPATH_PORT") }] },
  ]);
});

test("OPS-6 doctor: a check that fails by itself is a finding, and the others go on", async () => {
  const facts = await factsOf();
  const found = await runChecks({ ...facts, host: () => Promise.reject(new Error("the host is gone")) });
  expect(found.filter(({ state }) => state === "fix").map(({ name, detail }) => [name, detail])).toEqual(
    expect.arrayContaining([
      ["isolation", "it could not be checked: the host is gone"],
      ["leftovers", "it could not be checked: the host is gone"],
    ]),
  );
  expect(new Set(found.map(({ name }) => name)).size).toBe(found.length);
  expect(found.length).toBeGreaterThan(Object.keys(checks).length);
});
