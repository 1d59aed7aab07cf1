import { z } from "zod";

/** Plain http only on this machine, for tries; whether that is reached is the operator's choice. */
const isSecure = ({ protocol, hostname }: URL) =>
  protocol === "https:" || (protocol === "http:" && ["localhost", "127.0.0.1", "[::1]"].includes(hostname));

export const createSignInIssuerSchema = z.object({
  name: z
    .string({ error: "Name is required" })
    .trim()
    .min(1, { error: "Name is required", abort: true })
    .max(64, "Name must be 64 characters or less"),
  /** `iss` of the assertions, exactly as in them. */
  issuer: z
    .string({ error: "Issuer is required" })
    .trim()
    .max(500, "The issuer must be 500 characters or less")
    .refine((text) => URL.canParse(text) && isSecure(new URL(text)), {
      error: "The issuer must be an https URL",
      abort: true,
    })
    .refine((text) => !/[?#]|\/\/[^/]*@/.test(text), "The issuer must have no user name, query or fragment"),
  /** Whether members who have never signed in here by this issuer are found by their verified email address. */
  matchesEmail: z.boolean().default(false),
});
export type CreateSignInIssuerInput = z.input<typeof createSignInIssuerSchema> & { readonly orgSlug: string };
