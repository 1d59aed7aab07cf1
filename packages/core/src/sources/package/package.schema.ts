import { z } from "zod";
import { deployProjectSchema } from "../../projects/project/project.schema.ts";

const namePattern = /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const maxName = 200;
const nameTexts = {
  missing: "Name a package of the index",
  long: `A package's name has ${maxName} characters or less`,
  pattern: "A package's name has letters, numbers, dots, hyphens and underscores",
};

/** The name of a package as indexes normalize it (PEP 503): `Office_Word.MCP` is `office-word-mcp`. */
export const normalPackageName = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .replace(/[-_.]+/g, "-");

/** The name of a package, normalized. */
export const packageNameSchema = z
  .string({ error: nameTexts.missing })
  .trim()
  .min(1, { error: nameTexts.missing, abort: true })
  .max(maxName, { error: nameTexts.long, abort: true })
  .regex(namePattern, { error: nameTexts.pattern })
  .transform(normalPackageName);

const versionPattern = /^v?[0-9][0-9A-Za-z.!+_-]*$/;
const maxVersion = 80;
const versionTexts = {
  long: `A version has ${maxVersion} characters or less`,
  pattern: "A version begins with a number, such as 1.4.2",
};

/** A version, as PEP 440 writes it. */
export const packageVersionSchema = z
  .string()
  .trim()
  .max(maxVersion, { error: versionTexts.long, abort: true })
  .regex(versionPattern, versionTexts.pattern);

/** What `packageNameSchema` reports, for forms, which do without zod; null: nothing. */
export function packageNameProblem(text: string): string | null {
  const name = text.trim();
  if (name === "") return nameTexts.missing;
  if (name.length > maxName) return nameTexts.long;
  return namePattern.test(name) ? null : nameTexts.pattern;
}

/** What `packageVersionSchema` reports; null: nothing. Empty: the newest. */
export function packageVersionProblem(text: string): string | null {
  const version = text.trim();
  if (version === "") return null;
  if (version.length > maxVersion) return versionTexts.long;
  return versionPattern.test(version) ? null : versionTexts.pattern;
}

export const deployPackageSchema = deployProjectSchema
  .pick({
    name: true,
    description: true,
    entrypoint: true,
    arguments: true,
    authMode: true,
    isPublic: true,
    capturePayloads: true,
    secrets: true,
    access: true,
  })
  .extend({
    packageName: packageNameSchema,
    /** Default: the newest that is no prerelease. */
    version: packageVersionSchema.nullish(),
    /** Whether newer versions are built when the index has them. */
    follow: z.boolean().default(false),
  });
export type DeployPackageInput = z.input<typeof deployPackageSchema> & { readonly orgSlug: string };
