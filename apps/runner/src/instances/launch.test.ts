import type { Exit } from "@towpath/runtime";
import { expect, test } from "vitest";
import { describeExit, wasStopped } from "./launch.ts";

const limits = { memoryBytes: 512 * 1024 * 1024, processes: 256 };
const exited = (code: number): Exit => ({ reason: "exited", code, signal: null });
const signaled = (signal: string): Exit => ({ reason: "signaled", code: null, signal });
const ended = (reason: Exit["reason"]): Exit => ({ reason, code: null, signal: null });

test.each([
  [exited(0), true, /status 0/],
  [exited(3), false, /status 3/],
  [signaled("SIGTERM"), true, /SIGTERM/],
  [signaled("SIGHUP"), true, /SIGHUP/],
  [signaled("SIGKILL"), false, /SIGKILL/],
  [signaled("SIGSEGV"), false, /SIGSEGV/],
  [ended("stopped"), true, /stopped/],
  [ended("platform-ended"), true, /process of Towpath/],
  [{ ...ended("platform-ended"), detail: "the node of the server is being emptied" }, true, /^the node .* emptied$/],
  [ended("out-of-memory"), false, /512 MiB of memory/],
  [ended("process-limit"), false, /256 processes and threads/],
] as const)("RUN-6 an exit is described by its cause: %o, stopped: %s", (exit, isStop, description) => {
  expect(wasStopped(exit)).toBe(isStop);
  expect(describeExit(exit, limits)).toMatch(description);
});
