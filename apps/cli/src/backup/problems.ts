import { BackupError } from "@towpath/backup";
import { LoadRefused } from "@towpath/db/copy";
import { NewerSchema } from "@towpath/db/release";
import { CommandError } from "../terminal/terminal.ts";

/** @throws CommandError for what the operator can correct, else the error itself */
export function asCommandProblem(error: unknown): never {
  const isExpected = error instanceof BackupError || error instanceof LoadRefused || error instanceof NewerSchema;
  if (isExpected) throw new CommandError(error.message);
  if (error instanceof Error && error.name === "AbortError") throw new CommandError("Stopped. Nothing was kept.");
  throw error;
}
