import { z } from "zod";

// VAL-2 and VAL-3. The order of the checks determines which text is shown for a value with several problems.

const maxPathLength = 128;
const identifierPattern = /^[A-Za-z_][A-Za-z0-9_]*$/;
/**
 * Control characters, and characters with a special meaning in shells, other file systems or URLs. Also a leading
 * hyphen: programs would parse such a path as an option.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
const invalidCharacters = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff<>:"'|?*\\`$&;!#%{}^=~]|^-|\/-/u;

type PathTexts = {
  readonly absolute: string;
  readonly parent: string;
  readonly characters: string;
  readonly directory: string;
};

/** The first problem of a path in a repository. */
export function pathProblem(path: string, texts: PathTexts): string | null {
  if (/^[/\\~]|^[A-Za-z]:/.test(path)) return texts.absolute;
  if (path.split(/[/\\]/).includes("..")) return texts.parent;
  if (invalidCharacters.test(path) || !path.isWellFormed()) return texts.characters;
  if (/(^|\/)\.?$/.test(path)) return texts.directory;
  return null;
}

/** The file that an entrypoint names; null for a console script or a module, which the build finds. */
export function fileOfEntrypoint(entrypoint: string): string | null {
  // The part after the colon names an object in the file.
  const [file = ""] = entrypoint.split(":", 1);
  return file.endsWith(".py") || file.includes("/") ? file : null;
}

/**
 * The first problem of an entrypoint (`file.py` or `file.py:object`); null when there is none (VAL-2). Names of console
 * scripts, `package` and `package.module:function` have the same form (BLD-16).
 */
export function entrypointProblem(value: string): string | null {
  if (value.trim() === "") return "Entrypoint is required";
  if (value.length > maxPathLength) return "Entrypoint path is too long (max 128 characters)";
  const colon = value.indexOf(":");
  const path = colon < 0 ? value : value.slice(0, colon);
  if (colon >= 0) {
    const identifier = value.slice(colon + 1);
    if (identifier === "") return "Identifier cannot be empty after colon";
    if (!identifierPattern.test(identifier))
      return "Identifier must be a valid Python identifier (letters, numbers, underscores, cannot start with number)";
  }
  if (path.trim() === "") return "File path is required";
  return pathProblem(path, {
    absolute: "Entrypoint must be a relative path from the repo root",
    parent: "Entrypoint cannot reference parent directories",
    characters: "Entrypoint contains invalid characters",
    directory: "Entrypoint must be a file, not a directory",
  });
}

/** The first problem of a requirements file; null when there is none or the value is empty (VAL-3). */
export function requirementsProblem(value: string): string | null {
  if (value.trim() === "") return null;
  const problem = pathProblem(value, {
    absolute: "Requirements file must be a relative path from the repo root",
    parent: "Requirements file cannot reference parent directories",
    characters: "Requirements file path contains invalid characters",
    directory: "Requirements file must be a file, not a directory",
  });
  if (problem) return problem;
  return value.length > maxPathLength ? "Requirements file path is too long (max 128 characters)" : null;
}

const text = (problemOf: (value: string) => string | null, missing: string) =>
  z.string({ error: missing }).superRefine((value, context) => {
    const problem = problemOf(value);
    if (problem) context.addIssue({ code: "custom", message: problem });
  });

/** The first problem of a project's entrypoint, which may be empty: then each build finds it in its commit (BLD-16). */
export const entrypointSettingProblem = (value: string): string | null =>
  value === "" ? null : entrypointProblem(value);

export const entrypointSettingSchema = text(entrypointSettingProblem, "Entrypoint is required");

export const entrypointSchema = text(entrypointProblem, "Entrypoint is required");

/** Absent, null and empty all mean "none". */
export const requirementsSchema = text(requirementsProblem, "Requirements file path contains invalid characters")
  .nullish()
  .transform((value) => (value == null || value.trim() === "" ? null : value));
