import type { Diagnosis } from "@towpath/core/build/contract";
import type { Exit } from "@towpath/runtime";
import type { BuildLimits } from "../config.ts";
import { diagnosis } from "../failure.ts";

const megabytes = (bytes: number) => `${Math.round(bytes / 1024 / 1024)} MB`;

/** A tool of the install phase that a limit ended; null when it ended by itself. */
export function diagnoseInstallExit(exit: Exit, limits: BuildLimits, file: string | null): Diagnosis | null {
  const phase = "install";
  switch (exit.reason) {
    case "out-of-memory":
      return diagnosis(
        {
          code: "out_of_memory",
          phase,
          title: "Installing the dependencies needed too much memory",
          detail: `A build has ${megabytes(limits.install.memoryBytes)}. Building a large package from source is the usual cause.`,
          remedy: "Choose versions that have a wheel for this Python, so that nothing must be compiled.",
        },
        { file },
      );
    case "timed-out":
      return diagnosis(
        {
          code: "build_timeout",
          phase,
          title: "Installing the dependencies took too long",
          detail: `It was ended after ${Math.round(limits.installMs / 1000)} seconds.`,
          remedy: "Remove large packages, or choose versions that have a wheel, so that nothing must be compiled.",
        },
        { file },
      );
    case "output-limit":
      return diagnosis(
        {
          code: "output_limit",
          phase,
          title: "Installing the dependencies printed too much",
          detail: `It was ended after ${megabytes(limits.outputBytes)} of output. A package's build script prints without end.`,
          remedy: "Choose another version of the package that the last lines of the log name.",
        },
        { file },
      );
    case "disk-limit":
      return diagnosis({
        code: "dependency_build_failed",
        phase,
        title: "Installing the dependencies needed too much disk",
        detail: `It was stopped after it had written more than the ${megabytes(limits.diskBytes)} that a build may use.`,
        remedy:
          "Remove large packages, or choose their smaller variants (for example CPU-only builds). If they are small, a package's build script writes without limit: choose another version of it.",
      });
    case "disk-full":
      return diagnosis({
        code: "dependency_build_failed",
        phase,
        title: "The disk is nearly full",
        detail: "Installing the dependencies was ended, because the platform's disk has almost no space left.",
        remedy:
          "Remove large packages. If the dependencies are small, tell the operator: the disk is full for another reason.",
      });
    default:
      return null;
  }
}

type ServerEnd = { readonly exit: Exit | null; readonly lastLines: readonly string[]; readonly entrypoint: string };

/** A server that ended without the harness having said why. */
export function diagnoseServerExit({ exit, lastLines, entrypoint }: ServerEnd, limits: BuildLimits): Diagnosis {
  const excerpt = lastLines.length === 0 ? null : lastLines.join("\n");
  const file = entrypoint.split(":")[0] ?? null;
  if (exit?.reason === "out-of-memory") {
    return diagnosis(
      {
        code: "out_of_memory",
        phase: "inspect",
        title: "The server needed too much memory",
        detail: `It was ended while it started: a server has ${megabytes(limits.server.memoryBytes)} for all its processes.`,
        remedy:
          "Load less when the file is imported: open models and data on first use, or keep them outside of the process.",
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
        detail: "It was ended while it started.",
        remedy: "Remove the loop that prints, or lower the log level.",
      },
      { file, excerpt },
    );
  }
  const how =
    exit?.signal != null ? `by signal ${exit.signal}` : exit?.code != null ? `with status ${exit.code}` : "by itself";
  return diagnosis(
    {
      code: "exited_early",
      phase: "inspect",
      title: "The server ended instead of serving",
      detail: `Its process ended ${how} before it answered MCP. ${excerpt === null ? "It printed nothing." : "Its last lines are below."}`,
      remedy: `Take out of ${file ?? "the file"} what ends the process (sys.exit, os._exit, a crash in native code): it must define the server and stay.`,
    },
    { file, excerpt },
  );
}
