import type { BuildLogEntry } from "@towpath/core/delivery/build/contract";
import { expect, test } from "vitest";
import { phaseStates, progressOf, toLogLine } from "./build-log.ts";

const at = (second: number) => new Date(Date.UTC(2026, 10, 21, 10, 0, second)).toISOString();
const line = (number: number, phase: BuildLogEntry["phase"], second: number, text = "…"): BuildLogEntry => ({
  line: number,
  time: at(second),
  phase,
  kind: "step",
  text,
});
const states = (build: Parameters<typeof phaseStates>[0], lines: BuildLogEntry[]) =>
  phaseStates(build, lines).map((phase) => phase.state);

test("PRJ-3 a running build: earlier phases done with their time, the newest one running", () => {
  const lines = [line(1, "fetch", 0), line(2, "plan", 2, "Python 3.12, because .python-version says so")];
  const phases = phaseStates({ status: "building", timings: {}, diagnosis: null }, lines);
  expect(phases.map((phase) => phase.state)).toEqual(["done", "running", "waiting", "waiting", "waiting"]);
  expect(phases[0]?.durationMs).toBe(2000);
  expect(phases[1]).toMatchObject({ durationMs: null, steps: ["Python 3.12, because .python-version says so"] });
});

test("BLD-2 a failed build stops at the phase of its diagnosis", () => {
  const lines = [line(1, "fetch", 0), line(2, "plan", 2), line(3, "install", 3)];
  const failed = { status: "failed", timings: {}, diagnosis: { phase: "install" } } as const;
  expect(states(failed, lines)).toEqual(["done", "done", "failed", "skipped", "skipped"]);
  expect(states({ ...failed, diagnosis: null }, lines)[2]).toBe("failed");
});

test("BLD-1 queued, canceled and succeeded builds", () => {
  expect(new Set(states({ status: "queued", timings: {}, diagnosis: null }, []))).toEqual(new Set(["waiting"]));
  expect(states({ status: "canceled", timings: {}, diagnosis: null }, [line(1, "fetch", 0)])[0]).toBe("skipped");
  expect(new Set(states({ status: "succeeded", timings: { fetch: 120 }, diagnosis: null }, []))).toEqual(
    new Set(["done"]),
  );
});

test("PRJ-3 stored timings win over the log's", () => {
  const lines = [line(1, "fetch", 0), line(2, "plan", 2)];
  const phases = phaseStates({ status: "succeeded", timings: { fetch: 1750 }, diagnosis: null }, lines);
  expect(phases[0]?.durationMs).toBe(1750);
});

test("PRJ-3 a phase has its result, its reasons, warnings and the packages that were installed", () => {
  const of = (number: number, kind: BuildLogEntry["kind"], text: string) => ({
    ...line(number, "install", number, text),
    kind,
  });
  const lines = [
    of(1, "step", "Versions: resolving."),
    of(2, "output", " + fastmcp==4.1.2"),
    of(3, "output", "\u001b[32m + \u001b[0m\u001b[1midna\u001b[0m==3.10"),
    of(4, "output", "Installed 2 packages in 9ms"),
    of(5, "warning", "The settings name requirements.txt."),
    of(6, "result", "2 packages installed"),
  ];
  const phases = phaseStates({ status: "building", timings: {}, diagnosis: null }, lines);
  expect(phases[2]).toMatchObject({
    result: "2 packages installed",
    steps: ["Versions: resolving."],
    warnings: ["The settings name requirements.txt."],
    packages: ["fastmcp==4.1.2", "idna==3.10"],
  });
  expect(phases[3]).toMatchObject({ result: null, packages: [] });
  expect(progressOf(phases)).toBeCloseTo(0.5);
});

test("PRJ-3 a log line keeps its number, which links use", () => {
  expect(toLogLine(line(7, "plan", 1, "text"))).toEqual({
    id: 7,
    time: at(1),
    text: "text",
    tone: "step",
    tag: "plan",
  });
});

test("BLD-3 PRJ-3 a build that returns to an earlier phase to try other versions shows that phase and its step", () => {
  const result = (number: number, phase: BuildLogEntry["phase"], text: string) => ({
    ...line(number, phase, number, text),
    kind: "result" as const,
  });
  const lines = [
    line(1, "fetch", 0),
    line(2, "plan", 1),
    line(3, "install", 2),
    result(4, "install", "9 packages installed"),
    line(5, "inspect", 4, "The code is written for another version"),
    line(6, "install", 5, "Attempt 2: with mcp<2.\nMore"),
  ];
  const again = phaseStates({ status: "building", timings: { install: 900 }, diagnosis: null }, lines);
  expect(again.map(({ state }) => state)).toEqual(["done", "done", "running", "waiting", "waiting"]);
  expect(again[2]?.doing).toBe("Attempt 2: with mcp<2.");
  const installed = phaseStates({ status: "building", timings: {}, diagnosis: null }, lines.slice(0, 4));
  expect(installed[2]).toMatchObject({ doing: null, result: "9 packages installed" });
});
