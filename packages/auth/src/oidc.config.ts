import { z } from "zod";

const names = ["TOWPATH_OIDC_ISSUER", "TOWPATH_OIDC_CLIENT_ID", "TOWPATH_OIDC_CLIENT_SECRET"] as const;

const settings = z.object({
  TOWPATH_OIDC_ISSUER: z.url({ protocol: /^https?$/, error: "must be a URL" }),
  TOWPATH_OIDC_CLIENT_ID: z.string({ error: "is missing" }).min(1, "is missing"),
  TOWPATH_OIDC_CLIENT_SECRET: z.string({ error: "is missing" }).min(1, "is missing"),
  /** Whether signing out ends the issuer's session too. */
  TOWPATH_OIDC_SIGN_OUT: z.enum(["issuer", "here"], { error: "must be issuer or here" }).default("issuer"),
});

/** The settings of an OpenID Connect issuer, all of them, of an environment; null if none of them is set. */
export const parseOidcSettings = (environment: Readonly<Record<string, string | undefined>>) =>
  names.some((name) => environment[name]) ? settings.safeParse(environment) : null;

/** OpenID Connect Discovery 1.0, section 4. */
export const discoveryUrlOf = (issuer: string): string =>
  `${issuer.replace(/\/+$/, "")}/.well-known/openid-configuration`;
