import { posix } from "node:path";
import { argumentsSchema } from "@towpath/core/project/schema";
import { z } from "zod";
import type { Offer, Texts } from "./offers.ts";

const schema = z.looseObject({
  source: z.looseObject({
    type: z.literal("filesystem").nullish(),
    path: z.string(),
    entrypoint: z.string().nullish(),
  }),
  deployment: z.looseObject({ args: argumentsSchema.nullish().catch(null) }).nullish(),
});

/** The source of FastMCP's project file, with the arguments of its deployment; null when it names no file of the tree. */
export function fastmcpProgram(paths: ReadonlySet<string>, texts: Texts): Offer | null {
  const text = texts.get("fastmcp.json");
  if (text === undefined) return null;
  const { source, deployment } = parse(text) ?? {};
  const file = posix.normalize(source?.path ?? "");
  if (source === undefined || !paths.has(file)) return null;
  const entrypoint = source.entrypoint ? `${file}:${source.entrypoint}` : file;
  return { program: { entrypoint, arguments: deployment?.args ?? [] }, file, why: "the source in fastmcp.json" };
}

function parse(text: string): z.infer<typeof schema> | null {
  try {
    return schema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    // The plan, which reads its environment, says what is wrong with it.
    return null;
  }
}
