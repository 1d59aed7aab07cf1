import type { DiagnosisAction } from "@towpath/core/build/contract";
import { entrypointSchema } from "@towpath/core/project/schema";
import { secretKeyNameSchema } from "@towpath/core/secret/schema";
import type { HarnessStatus } from "@towpath/runtime";
import { askOperator, changeCode, changeSettings, rebuild } from "../failure.ts";
import { isLoopback, isOfAdministrators } from "./outside-causes.ts";

type Failed = Extract<HarnessStatus, { state: "failed" }>;

/** By an exit in its code, rather than by coming to its end: then it may be the right program, and say what it lacks. */
export const endsItself = ({ code, traceback }: Failed): boolean => code === "exited_early" && traceback !== null;

/** What ends a failure that the harness reports. `entryFile`: of the server. Pure. */
export function actionOf(status: Failed, entryFile: string): DiagnosisAction {
  const { code, candidates, module } = status;
  switch (code) {
    case "entrypoint_not_found":
    case "arguments_missing":
      return changeSettings("build");
    case "object_missing":
    case "unsupported_object": {
      const entrypoints = candidates.map((name) => `${entryFile}:${name}`).filter(isEntrypoint);
      return isFilled(entrypoints) ? { kind: "entrypoint", candidates: entrypoints } : changeSettings("build");
    }
    case "exited_early":
      return changeSettings(endsItself(status) ? "variables" : "build");
    case "variable_missing": {
      const names = candidates.filter((name) => secretKeyNameSchema.safeParse(name).success);
      return isFilled(names) ? { kind: "variables", names } : changeSettings("variables");
    }
    case "native_library_missing":
      return askOperator;
    case "program_missing":
      return isOfAdministrators(module ?? "") ? changeSettings("variables") : askOperator;
    case "host_unreachable":
      return isLoopback(module ?? "") ? changeSettings("variables") : rebuild;
    default:
      return changeCode;
  }
}

const isFilled = (list: readonly string[]) => list.length > 0;
const isEntrypoint = (text: string) => entrypointSchema.safeParse(text).success;
