import { buildWarningSchema, type DiagnosisAction, diagnosisSchema } from "@towpath/core/delivery/build/contract";
import { expect, test } from "vitest";
import { changeCode, changeSettings, diagnosis } from "../failure.ts";
import { failureOfPackage, warningOfPackage } from "./for-packages.ts";
import { diagnoseHarness } from "./harness.ts";
import { withTerminal } from "./in-terminal.ts";

const server = { program: { entrypoint: "demo", arguments: [] }, entryFile: "demo", dependencies: null };
const failed = { state: "failed", message: "", file: null, line: null, candidates: [], module: null } as const;
const terminalOf = (remedy: string) => / In a terminal: (.*)\.$/.exec(remedy)?.[1];
const commandsFor = (remedy: string, action?: DiagnosisAction) =>
  terminalOf(withTerminal({ remedy, ...(action && { action }) }).remedy);

test("BLD-2 a remedy for variables and arguments names the terminal's option for each beside the settings", () => {
  const asks = diagnoseHarness({ ...failed, code: "exited_early", traceback: "SystemExit: no token" }, server);
  expect(asks.remedy).toMatch(/Settings → Environment variables, or arguments under Settings → Build/);
  expect(terminalOf(withTerminal(asks).remedy)).toBe(
    "`./towpath settings NAME --args '…'`, or `./towpath env NAME set KEY=…`",
  );
  const missing = diagnoseHarness(
    { ...failed, code: "variable_missing", traceback: null, candidates: ["API_KEY"] },
    server,
  );
  expect(terminalOf(withTerminal(missing).remedy)).toBe("`./towpath env NAME set API_KEY=…`");
});

test("BLD-2 the option matches the remedy's setting, with the known values", () => {
  const root = "Correct the root directory under Settings → Build, or leave it empty for the whole repository.";
  expect(commandsFor(root, changeSettings("build"))).toBe("`./towpath settings NAME --root-directory …`");
  const files = "Set the requirements file under Settings → Build to `a.txt`, or leave it empty.";
  expect(commandsFor(files, changeSettings("build"))).toBe("`./towpath settings NAME --requirements …`");
  const entrypoint: DiagnosisAction = { kind: "entrypoint", candidates: ["a.py:app"] };
  const named = "Set the entrypoint under Settings → Build to `a.py:app`.";
  expect(commandsFor(named, entrypoint)).toBe("`./towpath settings NAME --entrypoint a.py:app`");
  expect(commandsFor("Correct the code.", changeCode)).toBeUndefined();
  expect(
    commandsFor("Set it under Settings → Environment variables, or by `./towpath env NAME set KEY=…`."),
  ).toBeUndefined();
});

test.each([...diagnosisSchema.shape.code.options, ...buildWarningSchema.shape.code.options])(
  "BLD-2 BLD-17 a package's remedy for %s names the terminal's command for each part of the settings",
  (code) => {
    const more = { title: "", detail: "", remedy: "" };
    const isWarning = (buildWarningSchema.shape.code.options as readonly string[]).includes(code);
    const { remedy } = withTerminal(
      isWarning
        ? warningOfPackage({ ...more, code: code as never })
        : failureOfPackage(diagnosis("inspect", code as never, changeCode, more)),
    );
    for (const [page, command] of [
      ["Settings → Build", "./towpath settings NAME --"],
      ["Settings → Environment variables", "./towpath env NAME set "],
      ["Settings → Package", "./towpath deploy pypi:PACKAGE==VERSION --name NAME"],
    ] as const)
      if (remedy.includes(page)) expect(remedy).toContain(command);
  },
);
