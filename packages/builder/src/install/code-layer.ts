import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { counted } from "../counted.ts";
import { stepSpec } from "./build-sandbox.ts";
import { makeCode } from "./commands.ts";
import type { InstallInput } from "./install.ts";
import { codeKey } from "./layer-key.ts";
import { runStep } from "./run-step.ts";

const compileMs = 120_000;

/** Makes the code layer with its bytecode, or finds that it is already there. Resolves to its digest. */
export async function codeLayer(input: InstallInput): Promise<string> {
  const { source, sandbox, layers, scratch, log, driver, signal } = input;
  const { python, limits } = sandbox;
  const key = codeKey(source.digest, python);
  const short = key.slice(0, 12);
  const known = await layers.find(key);
  if (known !== null) {
    log("install", "step", `Code: the same files as in an earlier build; reusing its layer ${short}.`);
    return known.digest;
  }
  log("install", "step", `Code: making layer ${short} of ${counted(source.entries.length, "file")}.`);
  const folder = join(scratch, "code");
  await mkdir(folder);
  const spec = stepSpec(
    sandbox,
    makeCode(python.insideExecutable),
    { readOnly: { source: source.folder }, writable: { work: folder } },
    "none",
  );
  const { outputBytes } = limits;
  const options = { phase: "install", log, timeoutMs: compileMs, outputBytes, signal, quietStdout: true } as const;
  const { ok, exit, output } = await runStep(driver, spec, options);
  if (!ok) throw new Error(`The code layer could not be made (${exit.reason}): ${output.slice(-2_000)}`);
  return (await layers.add(folder, { name: key, maxBytes: 4 * limits.source.unpackedBytes })).digest;
}
