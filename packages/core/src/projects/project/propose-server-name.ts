import { adjectives, animals, colors, uniqueNamesGenerator } from "unique-names-generator";
import type { Context } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { takenNames } from "../label/index.ts";
import { isReservedName } from "../reserved-names/index.ts";
import { projectNameSchema } from "./project.schema.ts";

// The generator's dictionaries contain words that are unsuitable for a server's address ("bloody", "leech"), or that read
// badly beside a color. Only these adjectives are used, and all animals but the excluded ones.
const allowedAdjectives = new Set(
  (
    "able active adorable agreeable alert amazing ambitious amused artistic awake aware balanced beautiful better " +
    "bold brave breezy bright brilliant busy calm capable careful charming cheerful classic clean clear clever " +
    "colorful confident conscious cool creative cuddly curious cute daily daring decent delicate delightful " +
    "determined devoted eager early easy efficient elegant energetic epic exact excellent exciting fair faithful " +
    "famous fancy fantastic fast fine fluffy flying fond fresh friendly full funny gentle genuine glad gleaming " +
    "global golden good gorgeous graceful grand grateful great handsome happy healthy helpful honest hopeful huge " +
    "ideal immense jolly joyous keen kind lively logical lovely loyal lucky magic main major mellow mighty mild " +
    "modern modest natural neat new nice noble novel open optimistic organic patient peaceful perfect playful " +
    "pleasant pleased polite popular positive precious pretty primary prime proud pure quick quiet radical rapid " +
    "rare ready real relaxed remarkable rich rising romantic safe sensible shiny silent silly simple smart smiling " +
    "smooth social soft solid sparkling special splendid stable steady still strong sunny super superb sure sweet " +
    "swift tidy tiny top tremendous vast vivid warm welcome whole wild wise witty wonderful worthy young zesty"
  ).split(" "),
);
const excludedAnimals = new Set(
  (
    "amphibian antlion ape asp ass bedbug booby boa bovid bug canidae canid cattle chicken cockroach coral cow crawdad " +
    "dinosaur donkey earwig felidae fish flea fly fowl galliform gamefowl hookworm landfowl leech louse mammal " +
    "marsupial mite mosquito pig planarian primate prawn rat reptile rodent roundworm salmon skunk slug snake tick " +
    "vulture wasp weasel wildfowl worm tapir tahr xerinae"
  ).split(" "),
);

const plain = /^[a-z]{3,11}$/;

/** Words of proposed names, each with three to eleven lower-case letters. */
export const nameWords = {
  adjectives: adjectives.filter((word) => plain.test(word) && allowedAdjectives.has(word)),
  colors: colors.filter((word) => plain.test(word)),
  animals: animals.filter((word) => plain.test(word) && !excludedAnimals.has(word)),
} as const;

const candidatesPerRound = 16;
const rounds = 4;

/** A free, valid server name such as `brave-teal-otter` (ONB-3). */
export async function proposeServerName(call: { ctx: Context }): Promise<{ readonly name: string }> {
  for (let round = 0; round < rounds; round++) {
    const candidates = Array.from({ length: candidatesPerRound }, randomName).filter(
      (name) => projectNameSchema.safeParse(name).success && !isReservedName(name),
    );
    const taken = await takenNames(call.ctx.db, candidates);
    const free = candidates.find((name) => !taken.has(name));
    if (free) return { name: free };
  }
  throw new TowpathError("internal", "No free name was found. Choose a name yourself.");
}

/** May be too long for VAL-1; the caller filters. */
function randomName(): string {
  return uniqueNamesGenerator({
    dictionaries: [nameWords.adjectives, nameWords.colors, nameWords.animals],
    separator: "-",
    style: "lowerCase",
  });
}
