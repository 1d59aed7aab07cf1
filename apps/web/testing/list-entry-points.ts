import { readdir, readFile } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { type CallExpression, type Expression, type ObjectExpression, parse } from "@swc/core";

/** The caller's required permission, or the reason why there is none. */
type Access =
  | { readonly kind: "permission"; readonly permission: string; readonly scope: string }
  | { readonly kind: "none"; readonly reason: string };

export type ServerFunction = {
  /** `file.function`, as in its URL. */
  readonly id: string;
  readonly method: "GET" | "POST";
  /** Null: none is named, which is an error. */
  readonly access: Access | null;
};

export type RouteHandler = {
  /** `METHOD file`, relative to `src/routes`. */
  readonly id: string;
  readonly access: Access | null;
};

const source = join(import.meta.dirname, "../src");

/** All server functions in the sources, including those that the current build leaves out. */
export async function listServerFunctions(): Promise<readonly ServerFunction[]> {
  const found: ServerFunction[] = [];
  for (const file of await sourceFiles(source)) {
    const program = await parseFile(file);
    const name = basename(file).replace(/\.functions\.ts$/, "");
    const declared = nodesOf(program, "VariableDeclarator").flatMap((declarator) => {
      const chain = callChain(declarator.init as Expression | undefined);
      return chain ? [{ id: `${name}.${(declarator.id as { value: string }).value}`, ...chain }] : [];
    });
    // A function declared in another form would be missing above.
    const calls = nodesOf(program, "CallExpression").filter(
      (call) => calleeName(call as unknown as CallExpression) === starter,
    );
    if (calls.length !== declared.length)
      throw new Error(`${file} declares a server function in a form that this test can't read`);
    found.push(...declared);
  }
  return found;
}

/** All handlers of HTTP routes: REST, streams, webhooks, sign-in. */
export async function listRouteHandlers(): Promise<readonly RouteHandler[]> {
  const routes = join(source, "routes");
  const found: RouteHandler[] = [];
  for (const file of await sourceFiles(routes)) {
    const program = await parseFile(file);
    for (const handlers of nodesOf(program, "KeyValueProperty").filter((pair) => keyOf(pair) === "handlers")) {
      const value = handlers.value as ObjectExpression;
      if (value.type !== "ObjectExpression")
        throw new Error(`${file} has handlers in a form that this test can't read`);
      for (const property of value.properties) {
        const method = keyOf(property as unknown as Node) ?? "?";
        const handler = "value" in property ? (property.value as Expression) : undefined;
        found.push({ id: `${method} ${relative(routes, file)}`, access: handlerAccess(handler) });
      }
    }
  }
  return found;
}

export type RestOperation = { readonly method: string; readonly path: string; readonly permission: string };

/** The table of REST operations, as the sources declare it. */
export async function listRestOperations(): Promise<readonly RestOperation[]> {
  const found: RestOperation[] = [];
  for (const file of await sourceFiles(source)) {
    if (!file.endsWith(".server.ts")) continue;
    for (const call of nodesOf(await parseFile(file), "CallExpression") as unknown as CallExpression[]) {
      if (calleeName(call) !== "operation") continue;
      const [route, , permission] = call.arguments.map(({ expression }) => literal(expression));
      const [method, path] = route?.split(" ") ?? [];
      if (!method || !path || !permission) throw new Error(`${file} has an operation that this test can't read`);
      found.push({ method, path: `/api/v1${path}`, permission });
    }
  }
  return found;
}

const starter = "createServerFn";
type Node = { readonly type: string; readonly [key: string]: unknown };

async function sourceFiles(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !/\.test\.tsx?$|\.gen\.ts$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

const parseFile = async (file: string) =>
  parse(await readFile(file, "utf8"), { syntax: "typescript", tsx: file.endsWith("x"), target: "esnext" });

function nodesOf(node: unknown, type: string): Node[] {
  if (Array.isArray(node)) return node.flatMap((each) => nodesOf(each, type));
  if (typeof node !== "object" || node === null) return [];
  const inner = Object.values(node).flatMap((each) => nodesOf(each, type));
  return (node as Node).type === type ? [node as Node, ...inner] : inner;
}

const calleeName = ({ callee }: CallExpression) => (callee.type === "Identifier" ? callee.value : null);
const keyOf = (property: Node) => (property.key as { value?: string } | undefined)?.value ?? null;
const literal = (expression: Expression | undefined) =>
  expression?.type === "StringLiteral" ? expression.value : null;

/** `createServerFn({ method }).middleware([access]).….handler(…)`, from its end to its start. */
function callChain(init: Expression | undefined): Pick<ServerFunction, "method" | "access"> | null {
  let access: Access | null = null;
  let node = init;
  while (node?.type === "CallExpression") {
    if (calleeName(node) === starter) {
      const options = node.arguments[0]?.expression;
      const isPost = nodesOf(options, "KeyValueProperty").some(
        (pair) => keyOf(pair) === "method" && literal(pair.value as Expression) === "POST",
      );
      return { method: isPost ? "POST" : "GET", access };
    }
    if (node.callee.type !== "MemberExpression") return null;
    const { property, object } = node.callee;
    const list = node.arguments[0]?.expression;
    if (property.type === "Identifier" && property.value === "middleware" && list?.type === "ArrayExpression") {
      access = middlewareAccess(list.elements[0]?.expression) ?? access;
    }
    node = object;
  }
  return null;
}

function middlewareAccess(element: Expression | undefined): Access | null {
  if (element?.type === "Identifier") {
    const reason = /^(public|self)Access$/.exec(element.value)?.[1];
    return reason ? { kind: "none", reason } : null;
  }
  if (element?.type !== "CallExpression") return null;
  const scope = /^(organization|organizationId|project|build)Access$/.exec(calleeName(element) ?? "")?.[1];
  const permission = literal(element.arguments[0]?.expression);
  return scope && permission ? { kind: "permission", permission, scope } : null;
}

function handlerAccess(handler: Expression | undefined): Access | null {
  if (handler?.type !== "CallExpression") return null;
  const named = literal(handler.arguments[0]?.expression);
  if (named === null) return null;
  if (calleeName(handler) === "withPermission") return { kind: "permission", permission: named, scope: "route" };
  return calleeName(handler) === "withoutPermission" ? { kind: "none", reason: named } : null;
}
