import { z } from "zod";

const maxSubjects = 50;
/** `system:serviceaccount:agents:*`: visible ASCII, as subjects are. */
const subjectPatternSchema = z
  .string()
  .trim()
  .min(1, "Enter a subject")
  .max(700, "A subject must be 700 characters or less")
  .regex(/^[!-~]*$/, "A subject has no spaces and only ASCII characters")
  .refine(
    (pattern) => !pattern.startsWith("*"),
    "A subject must not begin with *: name at least what all have in common",
  )
  .refine((pattern) => pattern.split("*").length <= 5, "A subject may have at most four *");

const urlSchema = (what: string) =>
  z
    .string()
    .trim()
    .max(500, `${what} must be 500 characters or less`)
    .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), `${what} must be an https URL`)
    .refine((text) => !/[?#]|\/\/[^/]*@/.test(text), `${what} must have no user name, query or fragment`);

/** An empty field of a form counts as left out. */
const optional = (schema: z.ZodType<string, string>) =>
  z
    .string()
    .nullish()
    .transform((text) => (text?.trim() ? text.trim() : null))
    .pipe(schema.nullable());

export const createWorkloadIdentitySchema = z
  .object({
    name: z
      .string({ error: "Name is required" })
      .trim()
      .min(1, { error: "Name is required", abort: true })
      .max(64, "Name must be 64 characters or less"),
    /** `iss` of the tokens, exactly as in them. */
    issuer: urlSchema("The issuer"),
    /** Patterns of `sub`; `*` stands for characters other than a colon. */
    subjects: z
      .array(subjectPatternSchema)
      .min(1, "Enter at least one subject")
      .max(maxSubjects, `Enter at most ${maxSubjects} subjects`)
      .transform((subjects) => [...new Set(subjects)]),
    /** The servers that they may call; null: all of the organization, future ones included. */
    projectIds: z
      .array(z.uuid())
      .min(1, "Choose at least one server")
      .max(200, "Choose at most 200 servers")
      .nullish()
      .transform((ids) => (ids ? [...new Set(ids)] : null)),
    /** Where the issuer's keys are; absent: where its discovery document says. */
    jwksUrl: optional(urlSchema("The address of the keys")),
    /** The keys themselves, a JWK set as JSON, for an issuer that this instance can't ask. */
    keySet: optional(z.string().max(65_536, "The key set must be 64 KiB or less")),
    /** Certificates (PEM) of the authorities that the issuer's host is trusted by; absent: the public ones. */
    ca: optional(
      z
        .string()
        .trim()
        .max(65_536, "The certificates must be 64 KiB or less")
        .regex(
          /^(?:-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----\s*)+$/,
          "The certificate must be PEM: it begins with -----BEGIN CERTIFICATE-----",
        ),
    ),
  })
  .refine(({ jwksUrl, keySet }) => jwksUrl === null || keySet === null, {
    path: ["keySet"],
    error: "Enter the keys or their address, not both",
  });
export type CreateWorkloadIdentityInput = z.input<typeof createWorkloadIdentitySchema> & { readonly orgSlug: string };
