import { z } from "zod";

const pythonVersion =
  /^(?:[<>=!~]=?|===)? {0,9}3(?:\.\d{1,3}){1,2}(?: {0,9}, {0,9}[<>=!~]=? {0,9}3(?:\.\d{1,3}){0,2}){0,9}$/;
const maxVersionCharacters = 200;

const environment = z.looseObject({
  python: z.string().nullish(),
  dependencies: z.array(z.string()).nullish(),
  requirements: z.string().nullish(),
});
const schema = z.looseObject({ environment: environment.nullish() });

export type FastmcpJson = {
  readonly python: string | null;
  readonly dependencies: readonly string[] | null;
  readonly requirements: string | null;
};

/**
 * What FastMCP's project file says of the environment. Its source and deployment parts are not used: the entrypoint
 * is the project's setting, and the platform serves.
 * @throws Error with a readable message when it is malformed
 */
export function parseFastmcpJson(text: string): FastmcpJson {
  const parsed = schema.safeParse(JSON.parse(text));
  if (!parsed.success) throw new Error(parsed.error.issues[0]?.message ?? "unexpected shape");
  const found = parsed.data.environment;
  return {
    python: readVersion(found?.python ?? ""),
    dependencies: found?.dependencies ?? null,
    requirements: found?.requirements ?? null,
  };
}

function readVersion(text: string): string | null {
  const version = text.slice(0, maxVersionCharacters).trim();
  return pythonVersion.test(version) ? version : null;
}
