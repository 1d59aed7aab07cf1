import { posix } from "node:path";
import type { DiagnosisAction, Program } from "@towpath/core/delivery/build/contract";
import { argumentsText } from "@towpath/core/projects/project/schema";
import { type BuildFailure, changeSettings, countOf, failed, quoted } from "../failure.ts";
import { type PlanSettings, type SourceFacts, textsOf } from "../source/facts.ts";
import { findOffers, hasServer, projectDirectories, serverDirectories, serversBeside } from "../source/find-offers.ts";
import { findProgram } from "../source/named-program.ts";
import type { Offer } from "../source/offer.ts";
import type { Pyproject } from "../source/pyproject.ts";
import { readmeArguments } from "../source/readme-arguments.ts";
import type { PlanLog } from "./plan-log.ts";

/** A program, and the file that it starts in; the harness finds its object or function. */
export type OtherProgram = { readonly program: Program; readonly entryFile: string };
type ChosenProgram = OtherProgram & {
  readonly others: readonly OtherProgram[];
  readonly isGuess: boolean;
  readonly servers: readonly string[];
  readonly lacksMcp: boolean;
};

/** Max other programs to try: each takes a start. */
const maxOthers = 2;
/** Max directories listed in a message. */
const maxListed = 5;
/** Max programs suggested in place of one that doesn't exist. */
const maxSuggested = 3;

/** As in a terminal. */
export const commandOf = (program: Program): string =>
  [program.entrypoint, argumentsText(program.arguments)].join(" ").trim();

/**
 * The program to start: the settings' entrypoint, or one that the commit offers (BLD-16), with the reason.
 *
 * @throws BuildFailure `entrypoint_not_found`
 */
export function chooseProgram(
  facts: SourceFacts,
  settings: PlanSettings,
  pyproject: Pyproject | null,
  log: PlanLog,
): ChosenProgram {
  const { entrypoint } = settings;
  if (settings.arguments.length > 0)
    log.step(`Arguments: ${argumentsText(settings.arguments)} (set under Settings → Build).`);
  if (entrypoint === "") return chooseOffer(facts, settings, pyproject, log);
  const set = { others: [], isGuess: false, servers: [], lacksMcp: false };
  const program = { entrypoint, arguments: [...settings.arguments] };
  const [file = "", object] = entrypoint.split(":");
  const normal = posix.normalize(file);
  const isOutside = file === "" || normal.startsWith("../") || normal.startsWith("/");
  if (!isOutside && facts.paths.has(normal)) {
    const found = object === undefined ? "its object is the first of mcp, server, app" : `its object is ${object}`;
    log.step(`Entrypoint: ${normal} (set under Settings → Build); ${found}.`);
    return { program, entryFile: normal, ...set };
  }
  const named = isOutside ? null : findProgram(facts.paths, entrypoint, pyproject);
  if (named === null) throw notFound(facts, file);
  const { what } = named;
  log.step(`Entrypoint: ${entrypoint} (set under Settings → Build); ${what}. The server that it starts is served.`);
  return { program, entryFile: named.file, ...set };
}

function chooseOffer(
  facts: SourceFacts,
  settings: PlanSettings,
  pyproject: Pyproject | null,
  log: PlanLog,
): ChosenProgram {
  const { paths } = facts;
  const texts = textsOf(facts);
  const [first, ...rest] = findOffers(paths, texts);
  const candidates = hasServer(paths, texts) ? [] : serverDirectories(paths, texts);
  // Without a server at the top, a project with a server is likelier than other files.
  if (first === undefined || candidates.length > 0) throw nothingFound(facts, settings, candidates);
  const withArguments = ({ program, file }: Offer): OtherProgram => ({
    program: settings.arguments.length === 0 ? program : { ...program, arguments: [...settings.arguments] },
    entryFile: file,
  });
  log.step(`Entrypoint: ${first.program.entrypoint} (found automatically); ${first.why}.`);
  if (settings.arguments.length === 0 && first.program.arguments.length > 0) {
    log.step(`Arguments: ${argumentsText(first.program.arguments)} (found with it).`);
  }
  const readme = settings.arguments.length > 0 ? undefined : texts.get("README.md");
  const names = [first.program.entrypoint, ...(pyproject?.name ? [pyproject.name] : [])];
  const others = [...asReadmeStarts(first, readme, names), ...rest].slice(0, maxOthers);
  if (others.length > 0) {
    const commands = others.map(({ program, why }) => `${commandOf(program)} (${why})`);
    log.step(`If it starts no server: ${commands.join(", then ")}.`);
  }
  const isGuess = first.isGuess ?? false;
  return {
    ...withArguments(first),
    others: others.map(withArguments),
    isGuess,
    servers: serversBeside(paths, texts, first.file),
    lacksMcp: isGuess && lacksMcp(facts),
  };
}

/** The same program with arguments from its README, if there are no others. */
function asReadmeStarts(offer: Offer, readme: string | undefined, names: readonly string[]): readonly Offer[] {
  const { entrypoint, arguments: own } = offer.program;
  const found = readme === undefined || own.length > 0 ? [] : readmeArguments(readme, names);
  if (found.length === 0) return [];
  return [{ ...offer, program: { entrypoint, arguments: [...found] }, why: "as README.md starts it" }];
}

const ofMcp = /mcp|model[ _-]?context[ _-]?protocol|json[ _-]?rpc|tools\/list/i;

/** Whether nothing in the repository's Python files concerns MCP, in any form; false if some are unknown. */
const lacksMcp = (facts: SourceFacts): boolean =>
  pythonIn(facts).every((path) => !ofMcp.test(facts.code.get(path) ?? "mcp"));

const pythonIn = ({ paths }: SourceFacts) => [...paths].filter((path) => path.endsWith(".py"));

/** For a commit without anything to start. `directories`: its projects that have a server. */
function nothingFound(
  facts: SourceFacts,
  { rootDirectory }: PlanSettings,
  directories: readonly string[],
): BuildFailure {
  const projects = projectDirectories(facts.paths);
  const candidates = directories.map((path) => posix.join(rootDirectory ?? "", path));
  const [which, listed] =
    candidates.length > 0
      ? [`${countOf(candidates.length, "project")} with a server`, candidates]
      : [countOf(projects.length, "project"), projects];
  const python = pythonIn(facts);
  const detail =
    projects.length > 0
      ? `There is no server at its top, but ${which} below it: ${quoted(listed.slice(0, maxListed))}.`
      : python.length === 0
        ? noPython
        : `Looked for fastmcp.json, console scripts, packages with a __main__.py and files that define a server. It has ${countOf(python.length, "Python file")}, and none but tests, examples, documentation, setup.py or a package's \`__init__.py\`.`;
  const action: DiagnosisAction =
    candidates.length > 0
      ? { kind: "root-directory", candidates: candidates.slice(0, maxListed) }
      : changeSettings("build");
  return failed("plan", "entrypoint_not_found", action, {
    title: "No server was found in the repository",
    detail,
    remedy:
      projects.length > 0
        ? "Set the root directory under Settings → Build to the server's project, then rebuild."
        : "Add the server's file, or set the entrypoint under Settings → Build to what starts it, then rebuild.",
  });
}

const noPython = "There is no Python file in the repository, or in the root directory that is set for the server.";

function notFound(facts: SourceFacts, file: string): BuildFailure {
  const candidates = candidatesFor(facts, file);
  const python = pythonIn(facts);
  const instead =
    candidates.length > 0
      ? `Set the entrypoint under Settings → Build to what starts the server, for example ${quoted(candidates, " or ")}`
      : "Add the file, or set the entrypoint under Settings → Build to the file that defines the server";
  const action: DiagnosisAction = candidates.length > 0 ? { kind: "entrypoint", candidates } : changeSettings("build");
  return failed("plan", "entrypoint_not_found", action, {
    title: `The entrypoint ${file} doesn't exist`,
    detail:
      python.length === 0 ? noPython : `The commit has ${countOf(python.length, "Python file")}, but not this one.`,
    remedy: `${instead}, or leave it empty, then rebuild.`,
    file,
  });
}

/** The commit's offers that are not files, files of the same name, then the likeliest files. */
function candidatesFor(facts: SourceFacts, file: string): string[] {
  const offers = findOffers(facts.paths, textsOf(facts)).map(({ program }) => program.entrypoint);
  const programs = offers.filter((text) => !text.endsWith(".py"));
  const sameName = offers.filter((text) => posix.basename(text) === posix.basename(file));
  return [...new Set([...programs, ...sameName, ...offers])].slice(0, maxSuggested);
}
