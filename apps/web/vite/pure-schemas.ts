import type { Plugin } from "vite";

type Node = { readonly type: string; readonly start: number; readonly end: number } & Readonly<Record<string, unknown>>;

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string";

const partsOf = (node: Node): readonly Node[] => Object.values(node).flat().filter(isNode);

/** Whether something runs when the module does, for all that the bundler knows. */
function runs(node: Node): boolean {
  if (/Function|^Literal$/.test(node.type)) return false;
  return /^(CallExpression|SpreadElement|MemberExpression)$/.test(node.type) || partsOf(node).some(runs);
}

/** The values of the module's constants that the bundler would keep without use. */
function initializersOf(program: Node): readonly Node[] {
  const declarations = partsOf(program).flatMap((node) =>
    node.type === "ExportNamedDeclaration" && isNode(node.declaration) ? node.declaration : node,
  );
  return declarations
    .filter(({ type }) => type === "VariableDeclaration")
    .flatMap(partsOf)
    .flatMap(({ init }) => (isNode(init) && runs(init) ? init : []));
}

/** A module whose constants have no effect for the bundler but their values. */
export function withPureConstants(code: string, program: unknown): string {
  const values = isNode(program) ? initializersOf(program).toSorted((a, b) => b.start - a.start) : [];
  return values.reduce((text, { start, end }) => {
    const value = text.slice(start, end);
    return `${text.slice(0, start)}/* @__PURE__ */ (() => (${value}))()${text.slice(end)}`;
  }, code);
}

/**
 * Drops the schemas that a browser's script doesn't use, and with the last one zod, which is a seventh of what a page may
 * weigh: forms check their fields with functions of the same files. A `*.schema.ts` only declares.
 */
export const pureSchemas = (): Plugin => ({
  name: "pure-schemas",
  apply: "build",
  applyToEnvironment: ({ name }) => name === "client",
  transform: {
    filter: { id: /\.schema\.ts$/ },
    handler(code) {
      return { code: withPureConstants(code, this.parse(code)), map: null };
    },
  },
});
