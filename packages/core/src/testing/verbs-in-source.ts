import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { parseSync } from "@swc/core";

/** What a verb's source does, itself or by the functions that it calls. */
export type VerbSource = {
  /** `entity/verb`, as exported by the entity's index.ts. */
  readonly id: string;
  readonly writes: boolean;
  readonly audits: boolean;
  readonly file: string;
};

type Node = { readonly type?: string; readonly [key: string]: unknown };
type FunctionSource = { readonly writes: boolean; readonly uses: ReadonlySet<string> };
type FileSource = {
  readonly functions: ReadonlyMap<string, FunctionSource>;
  /** Local name → where it comes from. */
  readonly names: ReadonlyMap<string, { readonly file: string; readonly name: string }>;
};

const source = join(import.meta.dirname, "..");
const auditFile = join(source, "audit/index.ts");

/** Every function that the package's entities export, with what it writes; read from the sources. */
export function verbsInSource(): readonly VerbSource[] {
  const files = new Map(sourceFiles(source).map((file) => [file, readSource(file)]));
  const indexes = [...files].filter(([file]) => basename(file) === "index.ts");
  return indexes.flatMap(([index, { names }]) =>
    [...names].flatMap(([name, from]) => {
      if (!files.get(from.file)?.functions.has(from.name)) return [];
      const reached = reach(files, from, new Set());
      return [{ id: `${basename(dirname(index))}/${name}`, file: relative(source, from.file), ...reached }];
    }),
  );
}

type Reached = { writes: boolean; audits: boolean };

/** Follows the calls of a function through all files. */
function reach(
  files: ReadonlyMap<string, FileSource>,
  { file, name }: { readonly file: string; readonly name: string },
  seen: Set<string> = new Set(),
  result: Reached = { writes: false, audits: false },
): Reached {
  const found = files.get(file);
  if (file === auditFile) result.audits = true;
  if (!found || file === auditFile || seen.has(`${file}#${name}`)) return result;
  seen.add(`${file}#${name}`);
  const own = found.functions.get(name);
  const passedOn = found.names.get(name);
  if (!own) return passedOn ? reach(files, passedOn, seen, result) : result;
  result.writes ||= own.writes;
  for (const used of own.uses) reach(files, found.names.get(used) ?? { file, name: used }, seen, result);
  return result;
}

function sourceFiles(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter(
      (file) =>
        file.endsWith(".ts") &&
        !file.endsWith(".test.ts") &&
        !file.startsWith("testing/") &&
        !file.includes("/testing/"),
    )
    .map((file) => join(directory, file));
}

function readSource(file: string): FileSource {
  const { body } = parseSync(readFileSync(file, "utf8"), { syntax: "typescript" }) as unknown as { body: Node[] };
  const functions = new Map<string, FunctionSource>();
  const names = new Map<string, { file: string; name: string }>();
  for (const item of body) {
    const { type } = item;
    if (type === "ImportDeclaration" || type === "ExportNamedDeclaration") addNames(file, item, names);
    const declaration = (type === "ExportDeclaration" ? item.declaration : item) as Node;
    for (const [name, node] of declaredIn(declaration)) functions.set(name, readFunction(node));
  }
  return { functions, names };
}

function addNames(file: string, item: Node, names: Map<string, { file: string; name: string }>): void {
  const from = (item.source as { value?: string } | null)?.value;
  if (!from?.startsWith(".") || item.typeOnly) return;
  const target = join(dirname(file), from);
  for (const specifier of (item.specifiers ?? []) as {
    local?: Named;
    imported?: Named | null;
    orig?: Named;
    exported?: Named | null;
    isTypeOnly?: boolean;
  }[]) {
    if (specifier.isTypeOnly) continue;
    const local = specifier.local?.value ?? specifier.exported?.value ?? specifier.orig?.value ?? "";
    names.set(local, { file: target, name: specifier.imported?.value ?? specifier.orig?.value ?? local });
  }
}

type Named = { readonly value: string };

/** Functions and constants at the top of a file. */
function declaredIn(declaration: Node): readonly (readonly [string, Node])[] {
  if (declaration.type === "FunctionDeclaration") {
    return [[(declaration.identifier as Named).value, declaration]];
  }
  if (declaration.type !== "VariableDeclaration") return [];
  return (declaration.declarations as Node[]).flatMap((each) => {
    const name = (each.id as { value?: string }).value;
    return name && each.init ? [[name, each.init as Node] as const] : [];
  });
}

const changing = new Set(["insert", "update", "delete"]);

function readFunction(root: Node): FunctionSource {
  const uses = new Set<string>();
  let writes = false;
  visit(root, (node) => {
    if (node.type === "Identifier") uses.add((node as unknown as Named).value);
    if (node.type === "TemplateElement" && /^\s*(INSERT INTO|UPDATE|DELETE FROM) /i.test(String(node.raw)))
      writes = true;
    if (node.type !== "CallExpression") return;
    const callee = node.callee as Node;
    if (callee.type !== "MemberExpression" || !changing.has((callee.property as Named).value)) return;
    const object = callee.object as Node;
    const name =
      object.type === "MemberExpression" ? (object.property as Named).value : (object as unknown as Named).value;
    if (name === "tx" || name === "db") writes = true;
  });
  return { writes, uses };
}

function visit(node: unknown, see: (node: Node) => void): void {
  if (Array.isArray(node)) for (const each of node) visit(each, see);
  else if (typeof node === "object" && node !== null) {
    see(node as Node);
    for (const value of Object.values(node)) visit(value, see);
  }
}
