import { z } from "zod";
import { deployProjectSchema } from "../../projects/project/project.schema.ts";

/** The name of a package, normalized as indexes do (PEP 503): `Office_Word.MCP` is `office-word-mcp`. */
export const packageNameSchema = z
  .string({ error: "Name a package of the index" })
  .trim()
  .min(1, { error: "Name a package of the index", abort: true })
  .max(200, { error: "A package's name has 200 characters or less", abort: true })
  .regex(/^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/, {
    error: "A package's name has letters, numbers, dots, hyphens and underscores",
  })
  .transform((name) => name.toLowerCase().replace(/[-_.]+/g, "-"));

/** A version, as PEP 440 writes it. */
export const packageVersionSchema = z
  .string()
  .trim()
  .max(80)
  .regex(/^v?[0-9][0-9A-Za-z.!+_-]*$/, "A version begins with a number, such as 1.4.2");

export const packageNameProblem = (name: string): string | null => firstProblem(packageNameSchema.safeParse(name));
/** Empty: the newest. */
export const packageVersionProblem = (version: string): string | null =>
  version.trim() === "" ? null : firstProblem(packageVersionSchema.safeParse(version));

const firstProblem = ({ error }: { readonly error?: z.ZodError | undefined }) => error?.issues[0]?.message ?? null;

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
