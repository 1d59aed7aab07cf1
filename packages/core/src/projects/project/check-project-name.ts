import type { Database, Transaction } from "@towpath/db";
import type { Call } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { takenNames } from "../label/index.ts";
import { isReservedName } from "../reserved-names/index.ts";
import { projectNameSchema } from "./project.schema.ts";
import type { ProjectNameAvailability } from "./project.view.ts";

/**
 * Whether a project of this name can be created now (VAL-1). Names are unique on the whole instance, ignoring case,
 * because they are host labels. Doesn't disclose who has a taken name.
 */
export async function checkProjectName(call: Call<{ readonly name: string }>): Promise<ProjectNameAvailability> {
  const { ctx, input } = call;
  const parsed = projectNameSchema.safeParse(input.name);
  if (!parsed.success) {
    const message = parsed.error.issues[0]?.message ?? "Project name is required";
    return { available: false, reason: "invalid", message };
  }
  const reason = await whyUnavailable(ctx.db, parsed.data);
  return reason === null
    ? { available: true, reason, message: null }
    : { available: false, reason, message: messages[reason] };
}

const messages = { reserved: "This project name is reserved", taken: "This project name is already taken" } as const;

async function whyUnavailable(
  db: Database | Transaction,
  name: string,
  projectId: string | null = null,
): Promise<keyof typeof messages | null> {
  if (isReservedName(name)) return "reserved";
  return (await takenNames(db, [name.toLowerCase()], projectId)).size > 0 ? "taken" : null;
}

/**
 * The same check for verbs, for a valid name. Reliable only under `lockLabels`. `projectId`: of a project that is
 * renamed, which may take a former name of its own.
 *
 * @throws TowpathError `invalid_input` with `fields.name`
 */
export async function requireFreeName(
  db: Database | Transaction,
  name: string,
  projectId: string | null = null,
): Promise<void> {
  const reason = await whyUnavailable(db, name, projectId);
  if (reason !== null) throw unavailableName(reason);
}

export function unavailableName(reason: keyof typeof messages): TowpathError {
  return new TowpathError("invalid_input", messages[reason], { fields: { name: messages[reason] } });
}
