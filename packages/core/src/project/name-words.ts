import { adjectives, animals, colors } from "unique-names-generator";

// The generator's dictionaries hold words that nobody wants in the address of a server ("bloody", "leech"), and words
// that read badly beside a color. Only these adjectives pass; animals that pass are all but the listed ones.
const pleasant = new Set(
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
const unloved = new Set(
  (
    "amphibian antlion ape asp ass bedbug booby boa bovid bug canidae canid cattle chicken cockroach coral cow crawdad " +
    "dinosaur donkey earwig felidae fish flea fly fowl galliform gamefowl hookworm landfowl leech louse mammal " +
    "marsupial mite mosquito pig planarian primate prawn rat reptile rodent roundworm salmon skunk slug snake tick " +
    "vulture wasp weasel wildfowl worm tapir tahr xerinae"
  ).split(" "),
);

const plain = /^[a-z]{3,11}$/;

/** The words of proposed names: adjective, color, animal; each lower case, three to eleven letters. */
export const nameWords = {
  adjectives: adjectives.filter((word) => plain.test(word) && pleasant.has(word)),
  colors: colors.filter((word) => plain.test(word)),
  animals: animals.filter((word) => plain.test(word) && !unloved.has(word)),
} as const;
