import { posix } from "node:path";
import { argumentsSchema } from "@towpath/core/projects/project/schema";
import { z } from "zod";
import type { Offer, Texts } from "./offer.ts";

const sourceSchema = z.looseObject({
  source: z.looseObject({
    type: z.literal("filesystem").nullish(),
    path: z.string(),
    entrypoint: z.string().nullish(),
  }),
  deployment: z.looseObject({ args: argumentsSchema.nullish().catch(null) }).nullish(),
});

/** The source of FastMCP's project file, with the arguments of its deployment; null if it names no file of the tree. */
export function fastmcpProgram(paths: ReadonlySet<string>, texts: Texts): Offer | null {
  const text = texts.get("fastmcp.json");
  if (text === undefined) return null;
  const { source, deployment } = parseSource(text) ?? {};
  const file = posix.normalize(source?.path ?? "");
  if (source === undefined || !paths.has(file)) return null;
  const entrypoint = source.entrypoint ? `${file}:${source.entrypoint}` : file;
  return { program: { entrypoint, arguments: deployment?.args ?? [] }, file, why: "the source in fastmcp.json" };
}

function parseSource(text: string): z.infer<typeof sourceSchema> | null {
  try {
    return sourceSchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    // The plan, which reads its environment, reports its errors.
    return null;
  }
}

const environmentSchema = z.looseObject({
  python: z.string().nullish(),
  dependencies: z.array(z.string()).nullish(),
});
const fileSchema = z.looseObject({ environment: environmentSchema.nullish() });

export type FastmcpJson = { readonly python: string | null; readonly dependencies: readonly string[] | null };

/** The environment in FastMCP's project file. @throws Error with a readable message if it is malformed */
export function parseFastmcpJson(text: string): FastmcpJson {
  const parsed = fileSchema.safeParse(JSON.parse(text));
  if (!parsed.success) throw new Error(parsed.error.issues[0]?.message ?? "unexpected shape");
  const { python, dependencies } = parsed.data.environment ?? {};
  return { python: readVersion(python ?? ""), dependencies: dependencies ?? null };
}

const pythonVersion =
  /^(?:[<>=!~]=?|===)? {0,9}3(?:\.\d{1,3}){1,2}(?: {0,9}, {0,9}[<>=!~]=? {0,9}3(?:\.\d{1,3}){0,2}){0,9}$/;
const maxVersionCharacters = 200;

function readVersion(text: string): string | null {
  const version = text.slice(0, maxVersionCharacters).trim();
  return pythonVersion.test(version) ? version : null;
}
