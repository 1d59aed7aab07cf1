import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { harnessFailureCodes } from "@towpath/core/delivery/build/contract";
import { expect, test } from "vitest";
import { shortDirectory } from "../../testing/short-directory.ts";
import { readFailure } from "./harness-status.ts";
import { harnessDirectory } from "./server-spec.ts";

test("BLD-2 a server's failure can be stored and shown with any characters", async () => {
  const directory = await shortDirectory();
  const nul = String.fromCharCode(0);
  const status = {
    state: "failed",
    code: "import_failed",
    message: `nul ${nul} and half a pair \ud800.`,
    file: `a${nul}.py`,
    line: 1,
    module: null,
    candidates: [`x${nul}`],
    traceback: `t${nul}`,
  };
  await writeFile(`${directory}/status.json`, JSON.stringify(status));
  expect(await readFailure(`${directory}/status.json`)).toMatchObject({
    message: "nul \ufffd and half a pair \ufffd.",
    file: "a\ufffd.py",
    candidates: ["x\ufffd"],
    traceback: "t\ufffd",
  });
  await rm(directory, { recursive: true });
});

test("BLD-2 the harness's list of failures is the same as ours", async () => {
  const harness = join(harnessDirectory, "towpath_runner");
  const textOf = (name: string) => readFile(join(harness, name), "utf8");
  const quotedIn = (text: string) => [...text.matchAll(/"(\w+)"/g)].map(([, name]) => name);
  const [, list = ""] = /^FailureCode = Literal\[([^\]]*)\]/m.exec(await textOf("status.py")) ?? [];
  expect(quotedIn(list)).toEqual([...harnessFailureCodes]);
  const files = (await readdir(harness)).filter((name) => name.endsWith(".py"));
  const texts = await Promise.all(files.map(textOf));
  const reported = texts.flatMap((text) => [...text.matchAll(/\b(?:Failure|NothingStarted)\(\s*"(\w+)"/g)]);
  expect(reported.length).toBeGreaterThan(20);
  for (const [, code] of reported) expect(harnessFailureCodes).toContain(code);
});
