import { constants } from "node:fs";
import { chmod, mkdir, open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { counted } from "../counted.ts";
import { diagnoseInstallExit } from "../diagnose/exit.ts";
import { diagnoseUv } from "../diagnose/uv.ts";
import { BuildFailure, diagnosis } from "../failure.ts";
import { inside, type StepFolders, stepSpec } from "./build-sandbox.ts";
import {
  copySource,
  createEnvironment,
  exactFile,
  extraRequirements,
  finishDependencies,
  installCommands,
  requirementsFile,
  resolveCommand,
} from "./commands.ts";
import type { InstallInput } from "./install.ts";
import { dependencyKey, resolutionKey } from "./layer-key.ts";
import { runStep, type StepOutcome } from "./run-step.ts";
import { type DiskWatch, watchDisk } from "./watch-disk.ts";

const largestExact = 4 * 1024 * 1024;
const sealedSchema = z.object({ bytes: z.number(), files: z.number() });

/** Makes the dependency layer, or finds that it is already there. Resolves to its digest. @throws BuildFailure */
export async function dependencyLayer(input: InstallInput): Promise<string> {
  const { diskBytes, freeBytes } = input.sandbox.limits;
  const { scratch, cache } = input;
  const disk = watchDisk({ folder: scratch, cache, maxBytes: diskBytes, minFreeBytes: freeBytes });
  try {
    return await makeLayer({ ...input, disk, signal: AbortSignal.any([input.signal, disk.full]) });
  } finally {
    disk.stop();
  }
}

type LayerInput = InstallInput & { readonly disk: DiskWatch };

async function makeLayer(input: LayerInput): Promise<string> {
  const { plan, layers, log, sandbox } = input;
  const folders = await prepareFolders(input);
  const exact = await exactList(input, folders);
  const key = dependencyKey(plan, exact, {
    ...sandbox,
    uvVersion: input.uvVersion,
    buildEnvironment: sandbox.config.buildEnvironment,
  });
  const short = key.slice(0, 12);
  const known = await layers.find(key);
  if (known !== null) {
    log("install", "step", `Dependencies: the same as in an earlier build; reusing its layer ${short}.`);
    return known.digest;
  }
  log("install", "step", `Dependencies: no layer ${short} yet, so they are installed.`);
  await createEmpty(input, folders);
  for (const command of installCommands(plan, sandbox.python.insideExecutable)) {
    await step(input, command, folders, "internet");
  }
  await finish(input, folders);
  const { dependencyBytes, diskBytes } = sandbox.limits;
  // Sizes as files say them, which holes in files make larger than what they take.
  const maxBytes = Math.max(2 * dependencyBytes, diskBytes);
  return (await layers.add(join(input.scratch, "dependencies"), { name: key, maxBytes })).digest;
}

type Folders = StepFolders;

async function prepareFolders(input: LayerInput): Promise<Folders> {
  const { scratch, plan, source, cache } = input;
  const writable = { dependencies: join(scratch, "dependencies"), work: join(scratch, "work"), cache };
  for (const folder of Object.values(writable)) await mkdir(folder, { recursive: true });
  await writeFile(join(writable.work, requirementsFile), extraRequirements(plan));
  await chmod(join(writable.work, requirementsFile), 0o644);
  if (!plan.usesTree) return { readOnly: { code: source.folder }, writable };
  // Build backends write beside the sources that they build; the code layer must not see that.
  const tree = join(scratch, "tree");
  await mkdir(tree);
  const copy = { readOnly: { source: source.folder }, writable: { code: tree } };
  await step(input, copySource(input.sandbox.python.insideExecutable), copy, "none");
  return { readOnly: {}, writable: { ...writable, code: tree } };
}

/** The lock, or the exact list that a resolution gives: from memory when the same was asked a short while ago. */
async function exactList(input: LayerInput, folders: Folders): Promise<string> {
  const { plan, memory, sandbox, log, buildId } = input;
  const command = resolveCommand(plan, sandbox.python.insideExecutable);
  if (command === null) return plan.inputDigest;
  const key = resolutionKey(plan, {
    ...sandbox,
    uvVersion: input.uvVersion,
    buildEnvironment: sandbox.config.buildEnvironment,
  });
  const known = await memory.recall(key);
  if (known !== null) {
    const hours = Math.round(known.ageMs / 3_600_000);
    log(
      "install",
      "step",
      `Versions: resolved ${hours < 1 ? "less than an hour" : `${hours} h`} ago for the same requirements, so they are kept. A uv.lock in the repository fixes them for good.`,
    );
    await writeFile(join(input.scratch, "work", exactFile), known.exact, { flag: "wx", mode: 0o644 });
    return known.exact;
  }
  log("install", "step", "Versions: resolving.");
  await step(input, command, folders, "internet");
  const exact = await readOwn(join(input.scratch, "work", exactFile));
  const count = exact.split("\n").filter((line) => /^[A-Za-z0-9]/.test(line)).length;
  log("install", "step", `Versions: resolved to ${counted(count, "package")}.`);
  await memory.remember(key, exact, buildId);
  return exact;
}

/** Reads a file that a tenant's process could have made: never through a link, never more than it should be. */
async function readOwn(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const found = await file.stat();
    if (!found.isFile() || found.size > largestExact) throw new Error("The list of versions is no ordinary file.");
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

async function createEmpty(input: LayerInput, folders: Folders): Promise<void> {
  await step(input, createEnvironment(input.sandbox.python.insideExecutable), folders, "none");
}

async function finish(input: LayerInput, folders: Folders): Promise<void> {
  const { plan, sandbox } = input;
  const done = await step(input, finishDependencies(plan, sandbox.python.insideExecutable), folders, "none", true);
  const { bytes } = sealedSchema.parse(JSON.parse(done.output.split("\n").at(-1) ?? ""));
  const limit = sandbox.limits.dependencyBytes;
  if (bytes <= limit) return;
  throw new BuildFailure(
    diagnosis({
      code: "dependency_build_failed",
      phase: "install",
      title: "The dependencies are too large",
      detail: `Installed they take ${Math.round(bytes / 1024 / 1024)} MB; at most ${Math.round(limit / 1024 / 1024)} MB are kept.`,
      remedy: "Remove large packages, or choose their smaller variants (for example CPU-only builds).",
    }),
  );
}

async function step(
  input: LayerInput,
  command: readonly [string, ...string[]],
  folders: Folders,
  network: "none" | "internet",
  quietStdout = false,
): Promise<StepOutcome> {
  const { sandbox, driver, log, signal, plan } = input;
  input.disk.start();
  const { installMs, outputBytes } = sandbox.limits;
  const outcome = await runStep(driver, stepSpec(sandbox, command, folders, network), {
    phase: "install",
    log,
    timeoutMs: installMs,
    outputBytes,
    signal,
    quietStdout,
  });
  if (outcome.ok) return outcome;
  const { file } = plan.dependencies;
  const limited = diagnoseInstallExit(outcome.exit, sandbox.limits, file);
  if (limited !== null) throw new BuildFailure(limited);
  if (command[0] !== inside.uv) throw new Error(`A step of ours failed: ${outcome.output.slice(-2_000)}`);
  throw new BuildFailure(diagnoseUv(outcome.output, { file, pythonVersion: sandbox.python.version }));
}
