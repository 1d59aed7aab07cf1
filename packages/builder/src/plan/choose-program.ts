import { posix } from "node:path";
import type { Program } from "@towpath/core/build/contract";
import { argumentsText, entrypointSchema } from "@towpath/core/project/schema";
import { findProgram } from "../entrypoints/named-program.ts";
import {
  findOffers,
  hasServer,
  type Offer,
  projectDirectories,
  serverDirectories,
  serversBeside,
} from "../entrypoints/offers.ts";
import { readmeArguments } from "../entrypoints/readme-arguments.ts";
import { BuildFailure, changeSettings, countOf, diagnosis } from "../failure.ts";
import { commandOf } from "../inspect/try-programs.ts";
import type { PlanSettings, SourceFacts } from "./facts.ts";
import type { PlanNote } from "./plan.ts";
import type { Pyproject } from "./pyproject.ts";

/** A program, and the file in which it begins; the harness finds its object or function. */
export type OtherProgram = { readonly program: Program; readonly entryFile: string };
type ChosenProgram = OtherProgram & {
  readonly others: readonly OtherProgram[];
  readonly isGuess: boolean;
  readonly servers: readonly string[];
  readonly lacksMcp: boolean;
};

/** How many more are tried: each takes a start. */
const maxOthers = 2;
/** So many directories are named in a message. */
const maxNamed = 5;

/**
 * What to start: the settings' entrypoint, or what the commit offers (BLD-16), with the reason.
 * @throws BuildFailure `entrypoint_not_found`
 */
export function chooseProgram(
  facts: SourceFacts,
  settings: PlanSettings,
  pyproject: Pyproject | null,
  note: (note: PlanNote) => void,
): ChosenProgram {
  const step = (text: string) => note({ kind: "step", text });
  const words = settings.arguments;
  if (words.length > 0) step(`Arguments: ${argumentsText(words)} (set under Settings → Build).`);
  if (settings.entrypoint === "") return chooseOffer(facts, settings, pyproject, step);
  const { entrypoint } = settings;
  const [file = "", object] = entrypoint.split(":");
  const program = { entrypoint, arguments: [...words] };
  const normal = posix.normalize(file);
  const outside = file === "" || normal.startsWith("../") || normal.startsWith("/");
  if (!outside && facts.paths.has(normal)) {
    const found = object === undefined ? "its object is the first of mcp, server, app" : `its object is ${object}`;
    step(`Entrypoint: ${normal} (set under Settings → Build); ${found}.`);
    return { program, entryFile: normal, others: [], ...set };
  }
  const named = outside ? null : findProgram(facts.paths, entrypoint, pyproject);
  if (named === null) throw notFound(facts, file);
  step(`Entrypoint: ${entrypoint} (set under Settings → Build); ${named.what}. The server that it starts is served.`);
  return { program, entryFile: named.file, others: [], ...set };
}

function chooseOffer(
  facts: SourceFacts,
  settings: PlanSettings,
  pyproject: Pyproject | null,
  step: (text: string) => void,
): ChosenProgram {
  const [first, ...rest] = offersOf(facts);
  const candidates = hasServer(facts.paths, textsOf(facts)) ? [] : serverDirectories(facts.paths, textsOf(facts));
  // Without a server at the top, a project that has one comes before what is merely there.
  if (first === undefined || candidates.length > 0) throw nothingFound(facts, settings, candidates);
  const withArguments = ({ program, file }: Offer): OtherProgram => ({
    program: settings.arguments.length === 0 ? program : { ...program, arguments: [...settings.arguments] },
    entryFile: file,
  });
  step(`Entrypoint: ${first.program.entrypoint} (found automatically); ${first.why}.`);
  if (settings.arguments.length === 0 && first.program.arguments.length > 0) {
    step(`Arguments: ${argumentsText(first.program.arguments)} (found with it).`);
  }
  const also = [...asReadmeStarts(first, facts, settings, pyproject), ...rest].slice(0, maxOthers);
  if (also.length > 0) {
    step(
      `If it starts no server: ${also.map(({ program, why }) => `${commandOf(program)} (${why})`).join(", then ")}.`,
    );
  }
  const servers = serversBeside(facts.paths, textsOf(facts), first.file);
  const isGuess = first.isGuess ?? false;
  const others = also.map(withArguments);
  return { ...withArguments(first), others, isGuess, servers, lacksMcp: isGuess && lacksMcp(facts) };
}

/** The same program with the arguments that its README gives it, where nothing else does. */
function asReadmeStarts(
  offer: Offer,
  facts: SourceFacts,
  settings: PlanSettings,
  pyproject: Pyproject | null,
): readonly Offer[] {
  const { entrypoint, arguments: own } = offer.program;
  const readme = textsOf(facts).get("README.md");
  if (readme === undefined || own.length > 0 || settings.arguments.length > 0) return [];
  const words = readmeArguments(readme, [entrypoint, ...(pyproject?.name ? [pyproject.name] : [])]);
  if (words.length === 0) return [];
  return [{ ...offer, program: { entrypoint, arguments: [...words] }, why: "as README.md starts it" }];
}

/** Of what the settings name. */
const set = { isGuess: false, servers: [], lacksMcp: false } as const;

const ofMcp = /mcp|model[ _-]?context[ _-]?protocol|json[ _-]?rpc|tools\/list/i;

/** Whether nothing in the repository's Python files has to do with MCP, however it is spoken; false where some aren't known. */
const lacksMcp = ({ paths, code }: SourceFacts): boolean =>
  [...paths].filter((path) => path.endsWith(".py")).every((path) => !ofMcp.test(code.get(path) ?? "mcp"));

const textsOf = ({ texts, code }: SourceFacts) => ({ get: (path: string) => texts.get(path) ?? code.get(path) });
const offersOf = (facts: SourceFacts): readonly Offer[] => findOffers(facts.paths, textsOf(facts));

/** For a commit that offers nothing. */
function nothingFound(
  facts: SourceFacts,
  { rootDirectory }: PlanSettings,
  directories: readonly string[],
): BuildFailure {
  const projects = projectDirectories(facts.paths);
  const candidates = directories.map((path) => posix.join(rootDirectory ?? "", path));
  const named = (paths: readonly string[]) =>
    paths
      .slice(0, maxNamed)
      .map((path) => `\`${path}\``)
      .join(", ");
  const python = [...facts.paths].filter((path) => path.endsWith(".py"));
  const [which, listed] =
    candidates.length > 0
      ? [`${countOf(candidates.length, "project")} with a server`, candidates]
      : [countOf(projects.length, "project"), projects];
  const inDirectory =
    projects.length === 0
      ? null
      : {
          detail: `There is no server at its top, but ${which} below it: ${named(listed)}.`,
          remedy: "Set the root directory under Settings → Build to the server's project, then rebuild.",
        };
  return new BuildFailure(
    diagnosis({
      code: "entrypoint_not_found",
      phase: "plan",
      title: "No server was found in the repository",
      ...(inDirectory ?? {
        detail:
          python.length === 0
            ? noPython
            : `Looked for fastmcp.json, console scripts, packages with a __main__.py and files that define a server. It has ${countOf(python.length, "Python file")}, and none but tests, examples, documentation, setup.py or a package's \`__init__.py\`.`,
        remedy: "Add the server's file, or set the entrypoint under Settings → Build to what starts it, then rebuild.",
      }),
      action:
        candidates.length > 0
          ? { kind: "root-directory", candidates: candidates.slice(0, maxNamed) }
          : changeSettings("build"),
    }),
  );
}

const noPython = "There is no Python file in the repository, or in the root directory that is set for the server.";

function notFound(facts: SourceFacts, file: string): BuildFailure {
  const candidates = candidatesFor(facts, file);
  const python = [...facts.paths].filter((path) => path.endsWith(".py"));
  const instead =
    candidates.length > 0
      ? `Set the entrypoint under Settings → Build to what starts the server, for example ${candidates.map((path) => `\`${path}\``).join(" or ")}`
      : "Add the file, or set the entrypoint under Settings → Build to the file that defines the server";
  const detail =
    python.length === 0 ? noPython : `The commit has ${countOf(python.length, "Python file")}, but not this one.`;
  return new BuildFailure(
    diagnosis(
      {
        code: "entrypoint_not_found",
        phase: "plan",
        title: `The entrypoint ${file} doesn't exist`,
        detail,
        remedy: `${instead}, or leave it empty, then rebuild.`,
        action: candidates.length > 0 ? { kind: "entrypoint", candidates } : changeSettings("build"),
      },
      { file },
    ),
  );
}

/** Up to three: what the commit offers that is no file, files of the same name, then the likeliest files. */
function candidatesFor(facts: SourceFacts, wanted: string): string[] {
  const offers = offersOf(facts).map(({ program }) => program.entrypoint);
  const isFile = (text: string) => text.endsWith(".py");
  const sameName = offers.filter((text) => posix.basename(text) === posix.basename(wanted));
  const all = [...offers.filter((text) => !isFile(text)), ...sameName, ...offers];
  return [...new Set(all)].filter((text) => entrypointSchema.safeParse(text).success).slice(0, 3);
}
