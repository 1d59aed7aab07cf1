import { splitLines } from "../../host/process/lines.ts";
import type { RunOptions } from "../../port/builds.ts";
import type { Exit, ExitReason, OutputStream } from "../../port/execution.ts";
import { type PodService, PodUnreachable } from "./pod-service.ts";

/** Counted for each line in addition to its text: otherwise millions of empty lines would pass the limit. */
const lineOverheadBytes = 32;
const maxFrameBytes = 1024 ** 2;

/** A step for the service of a build pod, see python/towpath_pod/steps.py. */
export type PodStep = {
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly directory: string;
  readonly network: "none" | "internet";
  readonly processes: number;
  readonly fileBytes: number | null;
  readonly volumes: readonly { readonly volume: string; readonly subPath?: string; readonly path: string }[];
  /** Contents of the operator's certificate file. */
  readonly certificates: string | null;
};

const ended = (reason: ExitReason): Exit => ({ reason, code: null, signal: null });

/**
 * Runs a step to its end. The time limit, the output limit, the signal or `exceeded` closes the connection, which ends the
 * step, and becomes the reason.
 *
 * @param exceeded resolves to the disk limit that the build has exceeded, else never
 * @throws PodUnreachable; SandboxError `invalid_spec`
 */
export async function runInPod(
  service: PodService,
  step: PodStep,
  options: RunOptions,
  exceeded: Promise<ExitReason>,
): Promise<Exit> {
  if (options.signal?.aborted) return ended("stopped");
  const limit = Promise.withResolvers<ExitReason>();
  exceeded.then(limit.resolve, () => {});
  const onAbort = () => limit.resolve("stopped");
  const timer = setTimeout(() => limit.resolve("timed-out"), options.timeoutMs);
  options.signal?.addEventListener("abort", onAbort, { once: true });
  const connection = new AbortController();
  try {
    const running = read(service, step, options, connection.signal);
    const first = await Promise.race([running, limit.promise]);
    if (typeof first !== "string") return first;
    connection.abort();
    await running.catch(() => {});
    return ended(first);
  } finally {
    connection.abort();
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", onAbort);
  }
}

async function read(service: PodService, step: PodStep, options: RunOptions, signal: AbortSignal): Promise<Exit> {
  let bytes = 0;
  const isOpen = () => bytes <= options.outputBytes;
  const splitter = (stream: OutputStream) =>
    splitLines(
      (line) => {
        bytes += lineOverheadBytes;
        if (isOpen() && !signal.aborted) options.onOutput(stream, line, new Date());
      },
      { isOpen, skip: () => {} },
    );
  const lines = { o: splitter("stdout"), e: splitter("stderr") };
  for await (const { letter, content } of frames(await service.stream({ path: "/run", body: step, signal }))) {
    if (letter === "x") {
      for (const each of Object.values(lines)) each.end();
      return isOpen() ? (JSON.parse(content.toString("utf8")) as Exit) : ended("output-limit");
    }
    bytes += content.length;
    lines[letter].push(content);
    if (!isOpen()) return ended("output-limit");
  }
  throw new PodUnreachable("The build's container ended.");
}

type Frame = { readonly letter: "o" | "e" | "x"; readonly content: Buffer };

async function* frames(body: AsyncIterable<Buffer>): AsyncGenerator<Frame> {
  let held: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of body) {
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      for (;;) {
        if (held.length < 5) break;
        const length = held.readUInt32BE(1);
        if (length > maxFrameBytes) throw new Error("A frame is too long.");
        if (held.length < 5 + length) break;
        yield { letter: held.toString("latin1", 0, 1) as Frame["letter"], content: held.subarray(5, 5 + length) };
        held = held.subarray(5 + length);
      }
    }
  } catch (error) {
    throw new PodUnreachable("The build's container ended.", { cause: error });
  }
}
