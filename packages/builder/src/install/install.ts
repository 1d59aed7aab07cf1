import type { Layers, Resolution } from "@towpath/core/delivery/build/contract";
import { buildImage } from "@towpath/runtime";
import { countOf } from "../failure.ts";
import { codeKey, makeCode } from "./commands.ts";
import { dependencyLayer } from "./dependency-layer.ts";
import type { InstallInput, MadeLayer } from "./input.ts";
import { runStep, sourceAt } from "./run-step.ts";

export type Installed = {
  readonly layers: Layers;
  /** The exact versions as in a requirements file, or a digest of the lock. */
  readonly exact: string;
  readonly resolution: Resolution;
};

/** Makes both layers concurrently. If one fails, aborts the other and waits for it before throwing. */
export async function installLayers(input: InstallInput): Promise<Installed> {
  const failed = new AbortController();
  const both = { ...input, signal: AbortSignal.any([input.signal, failed.signal]) };
  const guarded = async <Made>(make: (input: InstallInput) => Promise<Made>) => {
    try {
      return await make(both);
    } catch (error) {
      failed.abort(error);
      throw error;
    }
  };
  const results = await Promise.allSettled([guarded(dependencyLayer), guarded(codeLayer)]);
  const [dependencies, code] = results;
  if (dependencies.status === "rejected" || code.status === "rejected") throw failed.signal.reason;
  input.log("install", "result", resultOf(dependencies.value, code.value));
  const { digest, exact, pins } = dependencies.value;
  const layers = { pythonVersion: input.pythonVersion, dependencies: digest, code: code.value.digest };
  const at = (input.asOf ?? new Date()).toISOString();
  const { pythonVersion } = input;
  return { layers, exact, resolution: { pythonVersion, pins: pins && [...pins], at } };
}

function resultOf(dependencies: MadeLayer & { readonly packages: number }, code: MadeLayer): string {
  if (!dependencies.reused) return `${countOf(dependencies.packages, "package")} installed`;
  return code.reused ? "Nothing changed, all reused" : "Dependencies reused, code is new";
}

const compileMs = 120_000;

/** Finds the code layer or makes it, with bytecode. */
async function codeLayer(input: InstallInput): Promise<MadeLayer> {
  const { source, pythonVersion, organizationId, layers, workspace, limits, log } = input;
  const key = codeKey(source.digest, pythonVersion, organizationId);
  const short = key.slice(0, 12);
  const known = await layers.find(key);
  if (known !== null) {
    log("install", "step", `Code: the same files as in an earlier build; reusing its layer ${short}.`);
    return { digest: known.digest, reused: true };
  }
  log("install", "step", `Code: making layer ${short} of ${countOf(source.entries.length, "file")}.`);
  await runStep(input, {
    argv: makeCode(buildImage.python(pythonVersion)),
    volumes: [sourceAt(source, buildImage.source), { volume: "code", path: buildImage.work, access: "write" }],
    network: "none",
    timeoutMs: compileMs,
    quietStdout: true,
  });
  const digest = await workspace.publish("code", { name: key, maxBytes: 4 * limits.source.unpackedBytes });
  return { digest, reused: false };
}
