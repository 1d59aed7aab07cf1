import type { Diagnosis, Program } from "@towpath/core/delivery/build/contract";
import { expect, test } from "vitest";
import { changeCode, diagnosis, type Failure, type HarnessFailure, type Outcome } from "../failure.ts";
import type { InspectedServer, Inspection } from "../inspect/inspect.ts";
import { manifestWarnings } from "../inspect/warnings.ts";
import { commandOf } from "../plan/choose-program.ts";
import { tryPrograms } from "./programs.ts";

const server = (entrypoint: string, ...argv: string[]): InspectedServer => ({
  program: { entrypoint, arguments: argv },
  entryFile: entrypoint,
  dependencies: null,
});
const emptyManifest = {
  protocolVersion: "2025-06-18",
  server: { name: "echo", version: "1" },
  instructions: null,
  tools: [],
  resources: [],
  templates: [],
  prompts: [],
};
const inspection: Inspection = { manifest: null, icons: [], recording: null, warnings: [], ownSignIn: false };

/** A failure that the harness reports. */
function failed(
  code: HarnessFailure["code"],
  title: string,
  more: Partial<HarnessFailure> & { readonly action?: Diagnosis["action"] } = {},
): Failure {
  const { action = changeCode, ...status } = more;
  const reported = { message: "", file: null, line: null, module: null, candidates: [], traceback: null };
  return {
    diagnosis: diagnosis("inspect", code, action, { title, detail: "", remedy: "" }),
    status: { state: "failed", code, ...reported, ...status },
  };
}

/** Tries programs that end as given in `ends`, by their commands or entrypoints; all others serve. */
async function tryAll(
  [first = server("first"), ...others]: readonly InspectedServer[],
  ends: Readonly<Record<string, Failure | Inspection>>,
  isGuess = false,
) {
  const tried: string[] = [];
  const log: string[] = [];
  const inspect = async ({ program }: { readonly program: Program }): Promise<Outcome<Inspection>> => {
    const command = commandOf(program);
    tried.push(command);
    const end = ends[command] ?? inspection;
    return "diagnosis" in end ? { ok: false, failure: end } : { ok: true, value: end };
  };
  const outcome = await tryPrograms({ server: first, others, isGuess }, inspect, (_phase, _kind, text) => {
    log.push(text);
  });
  return {
    tried,
    log: log.join("\n"),
    served: outcome.ok ? commandOf(outcome.value.server.program) : null,
    warnings: outcome.ok ? outcome.value.inspection.warnings : [],
    failure: outcome.ok ? null : outcome.failure.diagnosis,
  };
}

test("BLD-16 a program that lacks arguments is tried with those that are known, and nothing else is", async () => {
  const lacking = failed("arguments_missing", "Usage: first COMMAND");
  const programs = [server("first"), server("other"), server("first", "serve")];
  const found = await tryAll(programs, { first: lacking });
  expect(found).toMatchObject({ tried: ["first", "first serve"], served: "first serve" });
  const alone = await tryAll([server("first"), server("other")], { first: lacking });
  expect(alone).toMatchObject({ tried: ["first"], failure: { title: "Usage: first COMMAND" } });
});

test("BLD-16 a program that lists its commands is tried with those that start a server; its next failure is reported", async () => {
  const candidates = ["init", "start", "run", "serve"];
  const lacking = failed("arguments_missing", "Usage: first COMMAND", { candidates });
  const served = await tryAll([server("first")], { first: lacking });
  expect(served).toMatchObject({ tried: ["first", "first serve"], served: "first serve" });
  const wrong = failed("arguments_missing", "Usage: first serve FILE");
  expect(await tryAll([server("first")], { first: lacking, "first serve": wrong, "first start": wrong })).toMatchObject(
    {
      tried: ["first", "first serve", "first start"],
      failure: { title: "Usage: first COMMAND" },
    },
  );
  const variable = failed("variable_missing", "TOKEN is not set");
  const asking = await tryAll([server("first")], { first: lacking, "first serve": variable });
  expect(asking.failure?.title).toBe("TOKEN is not set");
  // If the settings name arguments, only these are used.
  const set = await tryAll([server("first", "list")], { "first list": lacking });
  expect(set).toMatchObject({ tried: ["first list"], failure: { title: "Usage: first COMMAND" } });
});

test("BLD-16 after a program that starts nothing another is tried; one that exits by itself reports its reason", async () => {
  const programs = [server("first"), server("second")];
  expect((await tryAll(programs, { first: failed("exited_early", "nothing") })).tried).toEqual(["first", "second"]);
  const saysWhy = failed("exited_early", "no token", { traceback: "SystemExit: no token" });
  expect(await tryAll(programs, { first: saysWhy })).toMatchObject({
    tried: ["first"],
    failure: { title: "no token" },
  });
});

test("BLD-2 files tried only for their names, without a server in them: the diagnosis is no server, not a missing object", async () => {
  const failing = async (isGuess: boolean, action: Diagnosis["action"] = changeCode) => {
    const missing = failed("object_missing", "no object", { action });
    return (await tryAll([server("a.py"), server("b.py")], { "a.py": missing, "b.py": missing }, isGuess)).failure;
  };
  expect(await failing(true)).toMatchObject({
    code: "entrypoint_not_found",
    detail: expect.stringContaining("`a.py`, `b.py` were tried"),
  });
  expect((await failing(false))?.code).toBe("object_missing");
  // It has a server under another name.
  expect((await failing(true, { kind: "entrypoint", candidates: ["a.py:demo"] }))?.code).toBe("object_missing");
});

test("BLD-16 a server that offers nothing is skipped for the next candidate that offers something, with a warning", async () => {
  const nothing = manifestWarnings({ manifest: emptyManifest, icons: [], failedLists: [] }, "core/server.py");
  const empty: Inspection = { ...inspection, warnings: nothing };
  const variable = failed("variable_missing", "TOKEN is not set");
  const programs = [server("core/server.py"), server("a.py"), server("main.py")];
  const passedOver = await tryAll(programs, { "core/server.py": empty, "a.py": variable });
  expect(passedOver).toMatchObject({
    served: "main.py",
    tried: ["core/server.py", "a.py", "main.py"],
    warnings: [
      {
        code: "empty_passed_over",
        remedy: expect.stringContaining("or by `./towpath settings NAME --entrypoint main.py`"),
      },
    ],
  });
  expect(passedOver.log).toBe(
    "core/server.py answers, but offers nothing.\nTrying a.py.\nTOKEN is not set. \nTrying main.py.",
  );
  // Where nothing else is better, it goes live, and its remedy names what was tried.
  const alone = await tryAll(programs, { "core/server.py": empty, "a.py": variable, "main.py": empty });
  expect(alone).toMatchObject({ served: "core/server.py", tried: ["core/server.py", "a.py", "main.py"] });
  expect(alone.warnings).toMatchObject([
    { code: "nothing_offered", remedy: expect.stringContaining("`a.py`, `main.py` were tried instead") },
  ]);
});
