import type { Context } from "../context/index.ts";
import { isReservedName } from "../reserved-names/index.ts";
import { projectNameSchema } from "./project.schema.ts";
import { takenNames } from "./project.store.ts";
import type { ProjectNameAvailability } from "./project.view.ts";

/**
 * Whether a project of this name can be created now (VAL-1). Names are unique on the whole instance whatever their
 * case, because they are host labels; the answer says nothing of who has a taken one.
 */
export async function checkProjectName(call: {
  ctx: Context;
  input: { readonly name: string };
}): Promise<ProjectNameAvailability> {
  const { ctx, input } = call;
  const parsed = projectNameSchema.safeParse(input.name);
  if (!parsed.success) {
    const message = parsed.error.issues[0]?.message ?? "Project name is required";
    return { available: false, reason: "invalid", message };
  }
  if (isReservedName(parsed.data)) return unavailable("reserved");
  const taken = await takenNames(ctx.db, [parsed.data.toLowerCase()]);
  return taken.size > 0 ? unavailable("taken") : { available: true, reason: null, message: null };
}

/** The answer for a name that is well-formed and yet cannot be had. */
export function unavailable(reason: "reserved" | "taken"): ProjectNameAvailability & { available: false } {
  const message = reason === "reserved" ? "This project name is reserved" : "This project name is already taken";
  return { available: false, reason, message };
}
