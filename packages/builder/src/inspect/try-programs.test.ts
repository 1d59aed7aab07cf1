import type { Diagnosis, Program } from "@towpath/core/build/contract";
import { expect, test } from "vitest";
import { BuildFailure, changeCode, diagnosis } from "../failure.ts";
import type { Inspection } from "./inspect.ts";
import { commandOf, tryPrograms } from "./try-programs.ts";
import { manifestWarnings } from "./warnings.ts";

const server = (entrypoint: string) => ({
  program: { entrypoint, arguments: [] },
  entryFile: entrypoint,
  dependencies: null,
});
const early = { code: "exited_early", phase: "inspect", detail: "", remedy: "", action: changeCode } as const;
const emptyManifest = {
  ...{ protocolVersion: "2025-06-18", server: { name: "echo", version: "1" }, instructions: null },
  ...{ tools: [], resources: [], templates: [], prompts: [] },
};
const inspection: Inspection = { manifest: null, recording: null, warnings: [], ownSignIn: false };

/** Programs that are tried when the first of two ends early, and the second serves. */
async function triedAfter(failure: BuildFailure): Promise<readonly string[]> {
  const tried: string[] = [];
  const inspect = async ({ program }: { readonly program: { readonly entrypoint: string } }) => {
    tried.push(program.entrypoint);
    if (program.entrypoint === "first") throw failure;
    return inspection;
  };
  const programs = { server: server("first"), others: [server("second")], isGuess: false };
  await tryPrograms(programs, { inspect, log: () => {} }).catch(() => null);
  return tried;
}

test("BLD-16 a program that lacks arguments is tried with those that are known, and nothing else is", async () => {
  const lacking = new BuildFailure(diagnosis({ ...early, code: "arguments_missing", title: "Usage: first COMMAND" }));
  const tried: string[] = [];
  const inspect = async ({ program }: { readonly program: Program }) => {
    tried.push(commandOf(program));
    if (program.arguments.length === 0) throw lacking;
    return inspection;
  };
  const serve = { ...server("first"), program: { entrypoint: "first", arguments: ["serve"] } };
  const found = await tryPrograms(
    { server: server("first"), others: [server("other"), serve], isGuess: false },
    { inspect, log: () => {} },
  );
  expect([tried, found.server]).toEqual([["first", "first serve"], serve]);
  const others = [server("other")];
  await expect(
    tryPrograms({ server: server("first"), others, isGuess: false }, { inspect, log: () => {} }),
  ).rejects.toBe(lacking);
});

test("BLD-16 a program that lists its commands is tried with those that start a server; what it lacks then is told", async () => {
  const needs = (title: string) => diagnosis({ ...early, code: "arguments_missing", title });
  const commands = ["serve", "start", "run"];
  const lacking = new BuildFailure(needs("Usage: first COMMAND"), undefined, { commands });
  const triedWith = async (failures: Readonly<Record<string, BuildFailure>>, words: string[] = []) => {
    const tried: string[] = [];
    const inspect = async ({ program }: { readonly program: Program }) => {
      tried.push(commandOf(program));
      const failure = failures[program.arguments[0] ?? "none"];
      if (failure !== undefined) throw failure;
      return inspection;
    };
    const first = { ...server("first"), program: { entrypoint: "first", arguments: words } };
    const programs = { server: first, others: [], isGuess: false };
    const end = await tryPrograms(programs, { inspect, log: () => {} }).catch((error: unknown) => error);
    return [tried, end instanceof BuildFailure ? end.diagnosis.title : "live"];
  };
  const none = lacking;
  expect(await triedWith({ none })).toEqual([["first", "first serve"], "live"]);
  const wrong = new BuildFailure(needs("Usage: first serve FILE"));
  expect(await triedWith({ none, serve: wrong, start: wrong })).toEqual([
    ["first", "first serve", "first start"],
    "Usage: first COMMAND",
  ]);
  const variable = new BuildFailure(diagnosis({ ...early, code: "variable_missing", title: "TOKEN is not set" }));
  expect((await triedWith({ none, serve: variable }))[1]).toBe("TOKEN is not set");
  // Those that the settings name are the only ones.
  expect(await triedWith({ none, list: lacking }, ["list"])).toEqual([["first list"], "Usage: first COMMAND"]);
});

test("BLD-16 after a program that starts nothing another is tried; one that ends itself and says why is told", async () => {
  expect(await triedAfter(new BuildFailure(diagnosis({ ...early, title: "nothing" })))).toEqual(["first", "second"]);
  const saysWhy = new BuildFailure(diagnosis({ ...early, title: "no token" }), undefined, { saysWhy: true });
  expect(await triedAfter(saysWhy)).toEqual(["first"]);
});

test("BLD-2 files tried for their names only, without a server in them: there is none, rather than one that lacks an object", async () => {
  const failing = async (isGuess: boolean, action: Diagnosis["action"] = changeCode) => {
    const missing = diagnosis({ ...early, code: "object_missing", title: "no object", action });
    const programs = { server: server("a.py"), others: [server("b.py")], isGuess };
    const inspect = () => Promise.reject(new BuildFailure(missing));
    const error = await tryPrograms(programs, { inspect, log: () => {} }).catch((error: unknown) => error);
    return error instanceof BuildFailure ? error.diagnosis : null;
  };
  expect(await failing(true)).toMatchObject({
    code: "entrypoint_not_found",
    detail: expect.stringContaining("`a.py`, `b.py` were tried"),
  });
  expect((await failing(false))?.code).toBe("object_missing");
  // It has a server under another name.
  expect((await failing(true, { kind: "entrypoint", candidates: ["a.py:demo"] }))?.code).toBe("object_missing");
});

test("BLD-16 a server that offers nothing is passed over for the next candidate that offers something, and the build says so", async () => {
  const nothing = manifestWarnings({ manifest: emptyManifest, failedLists: [] }, "core/server.py");
  const empty: Inspection = { ...inspection, warnings: nothing };
  const variable = new BuildFailure(diagnosis({ ...early, code: "variable_missing", title: "TOKEN is not set" }));
  const programs = { server: server("core/server.py"), others: [server("a.py"), server("main.py")], isGuess: false };
  const tryWith = async (ends: Readonly<Record<string, Inspection | BuildFailure>>, first?: Inspection) => {
    const tried: string[] = [];
    const log: string[] = [];
    const inspect = async ({ program: { entrypoint } }: { readonly program: Program }) => {
      tried.push(entrypoint);
      const end = ends[entrypoint] ?? empty;
      if (end instanceof BuildFailure) throw end;
      return end;
    };
    const found = await tryPrograms(programs, {
      ...{ inspect, log: (_phase, _kind, text) => void log.push(text) },
      ...(first && { first }),
    });
    const { server, inspection } = found;
    return { served: server.entryFile, tried, log: log.join("\n"), warnings: inspection.warnings };
  };
  // The first was inspected where it will run.
  const passedOver = await tryWith({ "a.py": variable, "main.py": inspection }, empty);
  expect(passedOver).toMatchObject({
    served: "main.py",
    tried: ["a.py", "main.py"],
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
  const alone = await tryWith({ "a.py": variable });
  expect(alone).toMatchObject({ served: "core/server.py", tried: ["core/server.py", "a.py", "main.py"] });
  expect(alone.warnings).toMatchObject([
    { code: "nothing_offered", remedy: expect.stringContaining("`a.py`, `main.py` were tried instead") },
  ]);
});
