import { buildImage } from "@towpath/runtime";
import { counted } from "../counted.ts";
import { makeCode } from "./commands.ts";
import type { InstallInput } from "./install.ts";
import { codeKey } from "./layer-key.ts";
import { runStep, sourceAt } from "./run-step.ts";

const compileMs = 120_000;

/** Makes the code layer with its bytecode, or finds that it is already there. Resolves to its digest. */
export async function codeLayer(input: InstallInput): Promise<string> {
  const { source, pythonVersion, layers, workspace, limits, log } = input;
  const key = codeKey(source.digest, pythonVersion);
  const short = key.slice(0, 12);
  const known = await layers.find(key);
  if (known !== null) {
    log("install", "step", `Code: the same files as in an earlier build; reusing its layer ${short}.`);
    return known.digest;
  }
  log("install", "step", `Code: making layer ${short} of ${counted(source.entries.length, "file")}.`);
  await runStep(input, {
    argv: makeCode(buildImage.python(pythonVersion)),
    volumes: [sourceAt(source, buildImage.source), { volume: "code", path: buildImage.work, access: "write" }],
    network: "none",
    timeoutMs: compileMs,
    quietStdout: true,
  });
  return await workspace.publish("code", { name: key, maxBytes: 4 * limits.source.unpackedBytes });
}
