import { rm, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { shortDirectory } from "../testing/short-directory.ts";
import { readFailure } from "./harness-status.ts";

test("BLD-2 a server's failure can be stored and shown, whatever characters it contains", async () => {
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
