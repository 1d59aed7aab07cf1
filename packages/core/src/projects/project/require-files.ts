import { posix } from "node:path";
import { shortCommit } from "../../delivery/build/version.schema.ts";
import { TowpathError } from "../../errors/index.ts";
import { fileOfEntrypoint } from "./entrypoint.schema.ts";
import type { deployProjectSchema } from "./project.schema.ts";

export type FileSettings = Pick<
  ReturnType<typeof deployProjectSchema.parse>,
  "entrypoint" | "requirements" | "rootDirectory"
>;

/** What is read, for people. `name`: of the repository. */
export type CommitPlace = { readonly name: string; readonly branch: string; readonly sha: string };

/** The files that settings name, by field, from the repository's root. */
function filesOf(settings: FileSettings): readonly (readonly [field: string, path: string])[] {
  const { rootDirectory, requirements } = settings;
  const within = (path: string) => (rootDirectory === null ? path : posix.join(rootDirectory, path));
  const file = fileOfEntrypoint(settings.entrypoint);
  return [
    ...(file === null ? [] : [["entrypoint", within(file)] as const]),
    ...(requirements ? [["requirements", within(requirements)] as const] : []),
  ];
}

/** Whether `requireFiles` has anything to look for. */
export const namesFiles = (settings: FileSettings): boolean => filesOf(settings).length > 0;

/** @throws TowpathError `invalid_input` by field for an entrypoint or requirements file that isn't in the commit */
export async function requireFiles(
  settings: FileSettings,
  { name, branch, sha }: CommitPlace,
  exists: (path: string) => Promise<boolean>,
): Promise<void> {
  const place = `${name} at ${branch} (${shortCommit(sha)})`;
  const problems = await Promise.all(
    filesOf(settings).map(async ([field, path]) =>
      (await exists(path)) ? [] : [[field, `There is no \`${path}\` in ${place}.`] as const],
    ),
  );
  const fields = Object.fromEntries(problems.flat());
  if (problems.flat().length > 0) throw new TowpathError("invalid_input", Object.values(fields).join(" "), { fields });
}
