import type { Diagnosis } from "@towpath/core/build/contract";
import type { Exit } from "@towpath/runtime";
import type { BuildLimits } from "../config.ts";
import { askOperator, changeCode, diagnosis, megabytes, rebuild, seconds } from "../failure.ts";

/** For a command of the install phase that a limit stopped; null when it exited by itself. */
export function diagnoseInstallExit(exit: Exit, limits: BuildLimits, file: string | null): Diagnosis | null {
  const phase = "install";
  switch (exit.reason) {
    case "out-of-memory":
      return diagnosis(
        {
          code: "out_of_memory",
          phase,
          title: "Installing the dependencies ran out of memory",
          detail: `A build may use ${megabytes(limits.install.memoryBytes)}. The usual cause is a large package that is compiled from source.`,
          remedy: "Choose versions that have a wheel for this Python, so that nothing needs compiling.",
          action: changeCode,
        },
        { file },
      );
    case "timed-out":
      return diagnosis(
        {
          code: "build_timeout",
          phase,
          title: "Installing the dependencies took too long",
          detail: `It was stopped after ${seconds(limits.installMs)}.`,
          remedy: "Remove large packages, or choose versions that have a wheel, so that nothing needs compiling.",
          action: rebuild,
        },
        { file },
      );
    case "output-limit":
      return diagnosis(
        {
          code: "output_limit",
          phase,
          title: "Installing the dependencies printed too much",
          detail: `It was stopped after ${megabytes(limits.outputBytes)} of output. A package's build script may be printing in an endless loop.`,
          remedy: "Choose another version of the package named in the last lines of the log.",
          action: changeCode,
        },
        { file },
      );
    case "disk-limit":
      return diagnosis({
        code: "dependency_build_failed",
        phase,
        title: "Installing the dependencies used too much disk space",
        detail: `It was stopped after writing more than ${megabytes(limits.diskBytes)}, the limit for a build.`,
        remedy:
          "Remove large packages, or choose their smaller variants (for example CPU-only builds). If they are small, a package's build script may be writing in an endless loop: choose another version of it.",
        action: changeCode,
      });
    case "disk-full":
      return diagnosis({
        code: "dependency_build_failed",
        phase,
        title: "The disk is nearly full",
        detail: "Installing the dependencies was stopped because the platform's disk is almost full.",
        remedy: "Remove large packages. If the dependencies are small, tell the operator that the disk is full.",
        action: askOperator,
      });
    default:
      return null;
  }
}

type ServerExit = { readonly exit: Exit | null; readonly lastLines: readonly string[]; readonly file: string };

/** For a server that exited without a status from the harness. */
export function diagnoseServerExit({ exit, lastLines, file }: ServerExit, limits: BuildLimits): Diagnosis {
  const excerpt = lastLines.length === 0 ? null : lastLines.join("\n");
  if (exit?.reason === "out-of-memory") {
    return diagnosis(
      {
        code: "out_of_memory",
        phase: "inspect",
        title: "The server ran out of memory",
        detail: `It was stopped while it was starting. A server may use ${megabytes(limits.server.memoryBytes)} for all its processes.`,
        remedy: "Load less during the import: open models and data on first use, or keep them outside the process.",
        action: changeCode,
      },
      { file, excerpt },
    );
  }
  if (exit?.reason === "process-limit") {
    return diagnosis(
      {
        code: "exited_early",
        phase: "inspect",
        title: "The server was stuck at its limit of processes and threads",
        detail: `It was stopped while it was starting. A server may have ${limits.server.processes} processes and threads.`,
        remedy:
          "Limit what it starts (pools, threads, subprocesses), or ask the operator to raise TOWPATH_SERVER_PROCESSES.",
        action: changeCode,
      },
      { file, excerpt },
    );
  }
  if (exit?.reason === "output-limit") {
    return diagnosis(
      {
        code: "output_limit",
        phase: "inspect",
        title: "The server printed too much",
        detail: "It was stopped while it was starting.",
        remedy: "Remove the loop that prints, or log less.",
        action: changeCode,
      },
      { file, excerpt },
    );
  }
  const how =
    exit?.signal != null ? `on signal ${exit.signal}` : exit?.code != null ? `with status ${exit.code}` : "by itself";
  return diagnosis(
    {
      code: "exited_early",
      phase: "inspect",
      title: "The server exited instead of serving",
      detail: `Its process exited ${how} before it answered MCP. ${excerpt === null ? "It printed nothing." : "Its last lines are below."}`,
      remedy: `Remove from ${file} what ends the process (sys.exit, os._exit, a crash in native code): it must define the server and keep running.`,
      action: changeCode,
    },
    { file, excerpt },
  );
}
