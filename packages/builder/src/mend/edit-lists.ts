import { parse } from "smol-toml";
import { z } from "zod";
import { normalizeName, requirementName } from "../source/requirements-file.ts";
import { editArray, isOf, type ListEdit } from "./edit-array.ts";

type Edited = string | null;

/** Edits a requirements file; null where nothing changes, or a line goes on in the next one. */
export function editRequirements(text: string, edit: ListEdit): Edited {
  const lines = text.split("\n");
  const contentOf = (line: string) => line.replace(/(^|\s)#.*$/, "").trim();
  if (edit.kind === "drop") {
    const kept = lines.filter((line) => requirementName(contentOf(line)) !== normalizeName(edit.name));
    return kept.length === lines.length || goesOn(lines, kept) ? null : kept.join("\n");
  }
  let changed = text;
  for (const requirement of edit.requirements) {
    const now = changed.split("\n");
    const at = now.findIndex((line) => isOf(contentOf(line), requirement, edit.insteadOf));
    const line = now[at];
    if (line === undefined) {
      const end = text.includes("\r\n") ? "\r\n" : "\n";
      changed = `${changed}${changed === "" || changed.endsWith("\n") ? "" : end}${requirement}${end}`;
    } else if (/\\\s*$/.test(line)) return null;
    else
      changed = now
        .with(
          at,
          line.replace(contentOf(line), () => requirement),
        )
        .join("\n");
  }
  return changed === text ? null : changed;
}

const goesOn = (lines: readonly string[], kept: readonly string[]) =>
  lines.some((line) => !kept.includes(line) && /\\\s*$/.test(line));

const projectSchema = z.object({
  project: z.looseObject({ dependencies: z.array(z.string()).optional(), dynamic: z.array(z.string()).optional() }),
});

/** Edits `dependencies` in `[project]` of a pyproject.toml; null where nothing changes, and for other ways to list them. */
export function editPyproject(text: string, edit: ListEdit): Edited {
  const { project } = readToml(text, projectSchema) ?? {};
  if (!project || project.dynamic?.includes("dependencies")) return null;
  const table = projectTable(text);
  if (table === null) return null;
  const changed = project.dependencies === undefined ? withNewList(text, table, edit) : editKey(text, table, edit);
  const after = changed && readToml(changed, projectSchema)?.project.dependencies;
  return after && isDone(after, edit) ? changed : null;
}

const scriptSchema = z.looseObject({ dependencies: z.array(z.string()).optional() });
/** Edits the script block of a Python file (PEP 723); the same. */
export function editScript(text: string, edit: ListEdit): Edited {
  const lines = text.split("\n");
  const start = lines.findIndex((line) => line.trimEnd() === "# /// script");
  const length = start === -1 ? -1 : lines.slice(start + 1).findIndex((line) => line.trimEnd() === "# ///");
  const block = lines.slice(start + 1, start + 1 + length);
  if (length < 1 || !block.every((line) => line.startsWith("#"))) return null;
  const toml = `${block.map((line) => line.replace(/^# ?/, "")).join("\n")}\n`;
  const table = { start: 0, end: toml.length };
  const listed = readToml(toml, scriptSchema)?.dependencies;
  const changed = listed === undefined ? withNewList(toml, table, edit) : editKey(toml, table, edit);
  const after = changed && readToml(changed, scriptSchema)?.dependencies;
  if (!changed || !after || !isDone(after, edit)) return null;
  const commented = changed
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => (line.trim() === "" ? `#${line}` : `# ${line}`));
  return lines.toSpliced(start + 1, length, ...commented).join("\n");
}

const fastmcpSchema = z.looseObject({ environment: z.looseObject({ dependencies: z.array(z.string()) }) });

/** Edits `environment.dependencies` of a fastmcp.json; the same. */
export function editFastmcpJson(text: string, edit: ListEdit): Edited {
  let found: z.infer<typeof fastmcpSchema> | undefined;
  try {
    found = fastmcpSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return null;
  }
  if (!found) return null;
  const list = found.environment.dependencies;
  const changed = editList(list, edit);
  if (JSON.stringify(changed) === JSON.stringify(list)) return null;
  const indent = /\n([ \t]+)"/.exec(text)?.[1] ?? "  ";
  const result = { ...found, environment: { ...found.environment, dependencies: changed } };
  return `${JSON.stringify(result, null, indent)}${text.endsWith("\n") ? "\n" : ""}`;
}

function editList(list: readonly string[], edit: ListEdit): readonly string[] {
  if (edit.kind === "drop") return list.filter((item) => requirementName(item) !== normalizeName(edit.name));
  const result = [...list];
  for (const requirement of edit.requirements) {
    const at = result.findIndex((item) => isOf(item, requirement, edit.insteadOf));
    if (at === -1) result.push(requirement);
    else result[at] = requirement;
  }
  return result;
}

const isDone = (list: readonly string[], edit: ListEdit): boolean =>
  edit.kind === "drop"
    ? list.every((item) => requirementName(item) !== normalizeName(edit.name))
    : edit.requirements.every((requirement) => list.includes(requirement));

type Table = { readonly start: number; readonly end: number };

/** Where the keys of `[project]` are in a text. */
function projectTable(text: string): Table | null {
  const header = /^\[ ?project ?\][^\n]*\n/m.exec(text);
  if (!header) return null;
  const start = header.index + header[0].length;
  const next = /^\[{1,2}[^\]\n]+\]{1,2}[^\S\n]*(#[^\n]*)?\r?$/m.exec(text.slice(start));
  return { start, end: next ? start + next.index : text.length };
}

const dependenciesKey = /^dependencies {0,20}= {0,20}/m;
const requiresPythonKey = /^requires-python {0,20}= {0,20}/m;

const keyIn = (text: string, { start, end }: Table, key: RegExp) => {
  const found = key.exec(text.slice(start, end));
  return found && start + found.index + found[0].length;
};

function editKey(text: string, table: Table, edit: ListEdit): Edited {
  const at = keyIn(text, table, dependenciesKey);
  return at === null || text[at] !== "[" ? null : editArray(text, at, edit);
}

function withNewList(text: string, { start, end }: Table, edit: ListEdit): Edited {
  if (edit.kind === "drop") return null;
  const keys = text.slice(start, end);
  const at = start + keys.trimEnd().length;
  const line = `dependencies = [${edit.requirements.map((each) => JSON.stringify(each)).join(", ")}]`;
  return `${text.slice(0, at)}${at === start ? "" : "\n"}${line}${text.slice(at) || "\n"}`;
}

/** Sets `requires-python` in `[project]`; null where there is none. */
export function setRequiresPython(text: string, range: string): Edited {
  const table = projectTable(text);
  const at = table && keyIn(text, table, requiresPythonKey);
  if (at == null) return null;
  const value = /^(?:"[^"\n]*"|'[^'\n]*')/.exec(text.slice(at))?.[0];
  return value === undefined ? null : `${text.slice(0, at)}${JSON.stringify(range)}${text.slice(at + value.length)}`;
}

function readToml<Schema extends z.ZodType>(text: string, schema: Schema): z.infer<Schema> | null {
  try {
    return schema.safeParse(parse(text)).data ?? null;
  } catch {
    return null;
  }
}
