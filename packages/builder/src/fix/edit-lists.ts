import { isDeepStrictEqual } from "node:util";
import { parse } from "smol-toml";
import { z } from "zod";
import { normalizeName, requirementName } from "../source/requirements-file.ts";
import { editArray, isOf, type ListEdit } from "./edit-array.ts";

type Edited = string | null;

/** Edits a requirements file; null where nothing changes, or a line goes on in the next one or has hashes. */
export function editRequirements(text: string, edit: ListEdit): Edited {
  const lines = text.split("\n");
  const contentOf = (line: string) => line.replace(/(^|\s)#[\s\S]*$/, "").trim();
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
      // The last line goes on in the next one, or pip asks for a hash of each requirement.
      if (/\\\s*$/.test(changed) || /\s--hash[= ]/.test(changed)) return null;
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
  return changed !== null && isOnly(text, changed, ["project", "dependencies"], edit) ? changed : null;
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
  if (changed === null || !isOnly(toml, changed, ["dependencies"], edit)) return null;
  const commented = changed
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => (line.trim() === "" ? `#${line}` : `# ${line}`));
  return lines.toSpliced(start + 1, length, ...commented).join("\n");
}

const fastmcpSchema = z.looseObject({ environment: z.looseObject({ dependencies: z.array(z.string()) }) });

/** Edits `environment.dependencies` of a fastmcp.json; the same. */
export function editFastmcpJson(text: string, edit: ListEdit): Edited {
  let all: unknown;
  try {
    all = JSON.parse(text);
  } catch {
    return null;
  }
  const list = fastmcpSchema.safeParse(all).data?.environment.dependencies;
  if (list === undefined) return null;
  const changed = editList(list, edit);
  if (JSON.stringify(changed) === JSON.stringify(list)) return null;
  const indent = /\n([ \t]+)"/.exec(text)?.[1] ?? "  ";
  // In the order of the file, which a schema's result doesn't keep.
  const result = withValue(all, ["environment", "dependencies"], changed);
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

/** Whether an edit of TOML has changed the list at these keys as it should, and nothing else. */
function isOnly(before: string, after: string, keys: readonly string[], edit: ListEdit): boolean {
  const [was, is] = [readToml(before, anySchema), readToml(after, anySchema)];
  const list = listSchema.safeParse(valueAt(was, keys) ?? []).data;
  return list !== undefined && isSame(is, withValue(was, keys, editList(list, edit)));
}

/** The parser's tables have no prototype. */
const isSame = (one: unknown, other: unknown) => isDeepStrictEqual(structuredClone(one), structuredClone(other));

const anySchema = z.record(z.string(), z.unknown());
const listSchema = z.array(z.string());

const valueAt = (value: unknown, [key, ...rest]: readonly string[]): unknown =>
  key === undefined ? value : valueAt(anySchema.safeParse(value).data?.[key], rest);

const withValue = (value: unknown, [key, ...rest]: readonly string[], next: unknown): unknown => {
  const table = anySchema.safeParse(value).data;
  return key === undefined ? next : { ...table, [key]: withValue(table?.[key], rest, next) };
};

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
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  return `${text.slice(0, at)}${at === start ? "" : lineEnd}${line}${text.slice(at) || lineEnd}`;
}

/** Sets `requires-python` in `[project]`; null where there is none. */
export function setRequiresPython(text: string, range: string): Edited {
  const table = projectTable(text);
  const at = table && keyIn(text, table, requiresPythonKey);
  if (at == null) return null;
  const value = /^(?:"[^"\n]*"|'[^'\n]*')/.exec(text.slice(at))?.[0];
  if (value === undefined) return null;
  const changed = `${text.slice(0, at)}${JSON.stringify(range)}${text.slice(at + value.length)}`;
  const [was, is] = [readToml(text, anySchema), readToml(changed, anySchema)];
  return isSame(is, withValue(was, ["project", "requires-python"], range)) ? changed : null;
}

function readToml<Schema extends z.ZodType>(text: string, schema: Schema): z.infer<Schema> | null {
  try {
    return schema.safeParse(parse(text)).data ?? null;
  } catch {
    return null;
  }
}
