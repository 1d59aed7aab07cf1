import type { ProjectScope } from "../../authorize/index.ts";
import { authorizeCaller } from "../../calling/access/index.ts";
import type { Call } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { callerProbeOf } from "../project/internal.ts";
import type { CallerProbe } from "../project/project.schema.ts";
import { actingPerson, readCallerValues } from "./caller-values.ts";

type CallerCheck = {
  readonly probe: CallerProbe;
  readonly caller: { readonly projectId: string; readonly userId: string };
  /** Of the variables that are per caller. */
  readonly keyNames: readonly string[];
};

/**
 * The tool call by which the acting person's values are checked (CAP-1), for who may call the server. Whoever makes the
 * call makes it as this person, so that their own instance answers.
 *
 * @throws TowpathError `forbidden` for who may not call it and for an actor that is no person; `conflict` when the owner
 *   named no call, or the person lacks a value
 */
export async function readCallerCheck({ ctx, input }: Call<ProjectScope>): Promise<CallerCheck> {
  const { project } = await authorizeCaller(ctx, input);
  const userId = actingPerson(ctx);
  const probe = callerProbeOf(project);
  if (probe === null)
    throw new TowpathError("conflict", "The server's owner has named no tool call that checks values.");
  if (project.authMode !== "towpath-cloud")
    throw new TowpathError(
      "conflict",
      "The server lets everybody in without a sign-in, so nobody has values of their own.",
    );
  const { values } = await readCallerValues({ ctx, input });
  const missing = values.filter(({ setAt }) => setAt === null).map(({ keyName }) => keyName);
  if (missing.length > 0) throw new TowpathError("conflict", `Enter your own ${missing.join(", ")} first.`);
  return { probe, caller: { projectId: project.id, userId }, keyNames: values.map(({ keyName }) => keyName) };
}
