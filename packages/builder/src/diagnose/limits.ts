import type { Diagnosis } from "@towpath/core/delivery/build/contract";
import type { Exit } from "@towpath/runtime";
import type { BuildLimits } from "../config.ts";
import { askOperator, changeCode, diagnosis, megabytes, rebuild, seconds } from "../failure.ts";

/** For a command of the install phase that exceeded a limit; null if it exited by itself. */
export function diagnoseInstallLimit({ reason }: Exit, limits: BuildLimits, file: string | null): Diagnosis | null {
  switch (reason) {
    case "out-of-memory":
      return diagnosis("install", "out_of_memory", changeCode, {
        title: "Installing the dependencies ran out of memory",
        detail: `A build may use ${megabytes(limits.install.memoryBytes)}. The usual cause is a large package that is compiled from source.`,
        remedy: "Choose versions that have a wheel for this Python, so that nothing needs compiling.",
        file,
      });
    case "timed-out":
      return diagnosis("install", "build_timeout", rebuild, {
        title: "Installing the dependencies took too long",
        detail: `It was stopped after ${seconds(limits.installMs)}.`,
        remedy: "Remove large packages, or choose versions that have a wheel, so that nothing needs compiling.",
        file,
      });
    case "output-limit":
      return diagnosis("install", "output_limit", changeCode, {
        title: "Installing the dependencies printed too much",
        detail: `It was stopped after ${megabytes(limits.outputBytes)} of output. A package's build script may be printing in an endless loop.`,
        remedy: "Choose another version of the package named in the last lines of the log.",
        file,
      });
    case "disk-limit":
      return diagnosis("install", "dependency_build_failed", changeCode, {
        title: "Installing the dependencies used too much disk space",
        detail: `It was stopped after writing more than ${megabytes(limits.diskBytes)}, the limit for a build.`,
        remedy:
          "Remove large packages, or choose their smaller variants (for example CPU-only builds). If they are small, a package's build script may be writing in an endless loop: choose another version of it.",
      });
    case "disk-full":
      return diagnosis("install", "dependency_build_failed", askOperator, {
        title: "The disk is nearly full",
        detail: "Installing the dependencies was stopped because the platform's disk is almost full.",
        remedy: "Remove large packages. If the dependencies are small, tell the operator that the disk is full.",
      });
    default:
      return null;
  }
}

/** A server's file, and its last output; null without any. */
export type ServerOutput = { readonly file: string; readonly excerpt: string | null };

/** For a server that exited without a status from the harness. */
export function diagnoseServerExit(exit: Exit | null, limits: BuildLimits, { file, excerpt }: ServerOutput): Diagnosis {
  switch (exit?.reason) {
    case "out-of-memory":
      return diagnosis("inspect", "out_of_memory", changeCode, {
        title: "The server ran out of memory",
        detail: `It was stopped while it was starting. A server may use ${megabytes(limits.server.memoryBytes)} for all its processes.`,
        remedy: "Load less during the import: open models and data on first use, or keep them outside the process.",
        file,
        excerpt,
      });
    case "process-limit":
      return diagnosis("inspect", "exited_early", changeCode, {
        title: "The server was stuck at its limit of processes and threads",
        detail: `It was stopped while it was starting. A server may have ${limits.server.processes} processes and threads.`,
        remedy:
          "Limit what it starts (pools, threads, subprocesses), or ask the operator to raise TOWPATH_SERVER_PROCESSES.",
        file,
        excerpt,
      });
    case "output-limit":
      return diagnosis("inspect", "output_limit", changeCode, {
        title: "The server printed too much",
        detail: "It was stopped while it was starting.",
        remedy: "Remove the loop that prints, or log less.",
        file,
        excerpt,
      });
    default:
      return diagnosis("inspect", "exited_early", changeCode, {
        title: "The server exited instead of serving",
        detail: `Its process exited ${howExited(exit)} before it answered MCP. ${excerpt === null ? "It printed nothing." : "Its last lines are below."}`,
        remedy: `Remove from ${file} what ends the process (sys.exit, os._exit, a crash in native code): it must define the server and keep running.`,
        file,
        excerpt,
      });
  }
}

function howExited(exit: Exit | null): string {
  if (exit?.signal != null) return `on signal ${exit.signal}`;
  return exit?.code == null ? "by itself" : `with status ${exit.code}`;
}
