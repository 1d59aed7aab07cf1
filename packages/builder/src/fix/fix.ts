import { posix } from "node:path";
import type { RepositoryChange } from "@towpath/core/delivery/build/contract";
import { allows, rangeOf } from "../plan/choose-python.ts";
import type { ListEdit } from "./edit-array.ts";
import { editFastmcpJson, editPyproject, editRequirements, editScript, setRequiresPython } from "./edit-lists.ts";

/** Texts by path, from the top of the repository; null: there is no such file. */
export type Texts = Readonly<Record<string, string | null>>;

const projectBeside = (file: string) => posix.join(posix.dirname(file), "pyproject.toml");

/** The files that a change reads. */
export const filesToFix = (change: RepositoryChange): readonly string[] =>
  change.kind === "python" ? [change.file, projectBeside(change.file)] : [change.file];

/**
 * Makes a change that a diagnosis names; the texts that are different then. Empty where nothing changes: it was made
 * already, or the file lists requirements in another way. Pure.
 */
export function fix(change: RepositoryChange, texts: Texts): Texts {
  const { file } = change;
  const text = texts[file] ?? null;
  switch (change.kind) {
    case "require": {
      if (text === null) return isNewList(file) ? { [file]: `${change.requirements.join("\n")}\n` } : {};
      return changed(file, editOf(file)(text, change));
    }
    case "drop":
      return text === null ? {} : changed(file, editOf(file)(text, change));
    case "delete":
      return text === null ? {} : { [file]: null };
    case "python": {
      const project = projectBeside(file);
      const range = rangeOf(texts[project] ?? null);
      const widened =
        range === null || allows(range, change.version)
          ? null
          : setRequiresPython(texts[project] ?? "", `>=${change.version}`);
      const version = text?.trim() === change.version ? {} : { [file]: `${change.version}\n` };
      return { ...version, ...changed(project, widened) };
    }
  }
}

const changed = (file: string, text: string | null): Texts => (text === null ? {} : { [file]: text });

const isNewList = (file: string) => /\.(txt|in)$/.test(file);

function editOf(file: string): (text: string, edit: ListEdit) => string | null {
  const name = posix.basename(file);
  if (name === "pyproject.toml") return editPyproject;
  if (name === "fastmcp.json") return editFastmcpJson;
  return name.endsWith(".py") ? editScript : editRequirements;
}
