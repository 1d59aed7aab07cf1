import { uniqueNamesGenerator } from "unique-names-generator";
import type { Context } from "../context/index.ts";
import { TowpathError } from "../errors/index.ts";
import { takenNames } from "../label/index.ts";
import { isReservedName } from "../reserved-names/index.ts";
import { nameWords } from "./name-words.ts";
import { projectNameSchema } from "./project.schema.ts";

const candidatesPerRound = 16;
const rounds = 4;

/** A free server name such as `brave-teal-otter` that VAL-1 accepts (ONB-3). */
export async function proposeServerName(call: { ctx: Context }): Promise<{ readonly name: string }> {
  for (let round = 0; round < rounds; round++) {
    const candidates = Array.from({ length: candidatesPerRound }, randomName).filter(
      (name) => projectNameSchema.safeParse(name).success && !isReservedName(name),
    );
    const taken = await takenNames(call.ctx.db, candidates);
    const free = candidates.find((name) => !taken.has(name));
    if (free) return { name: free };
  }
  throw new TowpathError("internal", "No free name was found. Choose one yourself.");
}

/** May be longer than VAL-1 allows; the caller drops those. */
function randomName(): string {
  return uniqueNamesGenerator({
    dictionaries: [nameWords.adjectives, nameWords.colors, nameWords.animals],
    separator: "-",
    style: "lowerCase",
  });
}
