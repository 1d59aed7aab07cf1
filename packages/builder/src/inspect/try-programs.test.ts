import { expect, test } from "vitest";
import { BuildFailure, diagnosis } from "../failure.ts";
import type { Inspection } from "./inspect.ts";
import { tryPrograms } from "./try-programs.ts";

const server = (entrypoint: string) => ({
  program: { entrypoint, arguments: [] },
  entryFile: "pyproject.toml",
  dependencies: null,
});
const early = { code: "exited_early", phase: "inspect", detail: "", remedy: "" } as const;
const inspection: Inspection = { manifest: null, recording: null, warnings: [], ownSignIn: false };

/** Programs that are tried when the first of two ends early, and the second serves. */
async function triedAfter(failure: BuildFailure): Promise<readonly string[]> {
  const tried: string[] = [];
  const inspect = async ({ program }: { readonly program: { readonly entrypoint: string } }) => {
    tried.push(program.entrypoint);
    if (program.entrypoint === "first") throw failure;
    return inspection;
  };
  await tryPrograms({ server: server("first"), others: [server("second")] }, inspect, () => {}).catch(() => null);
  return tried;
}

test("BLD-16 after a program that starts nothing another is tried; one that ends itself and says why is told", async () => {
  expect(await triedAfter(new BuildFailure(diagnosis({ ...early, title: "nothing" })))).toEqual(["first", "second"]);
  const saysWhy = new BuildFailure(diagnosis({ ...early, title: "no token" }), undefined, { saysWhy: true });
  expect(await triedAfter(saysWhy)).toEqual(["first"]);
});
