import { discoveryUrlOf, parseOidcSettings } from "@towpath/auth/config";
import { z } from "zod";
import { type Check, fix, invalidSettings, notNeeded, ok, reasonOf } from "../finding.ts";

const name = "OpenID Connect";
const withinMs = 5_000;

/** Of OpenID Connect Discovery 1.0, section 3, what a sign-in needs. */
const documentSchema = z.object({
  issuer: z.string(),
  authorization_endpoint: z.url(),
  token_endpoint: z.url(),
  jwks_uri: z.url(),
});

/** Whether the issuer describes itself, and publishes its keys. */
export const oidc: Check = async ({ settings }) => {
  const parsed = parseOidcSettings(settings);
  if (parsed === null) return [notNeeded(name, "people have accounts of this instance")];
  if (!parsed.success) return [invalidSettings(name, parsed)];
  const { TOWPATH_OIDC_ISSUER: issuer } = parsed.data;
  const url = discoveryUrlOf(issuer);
  const remedy = `Set TOWPATH_OIDC_ISSUER to the issuer whose document is at ${url}`;
  try {
    const document = documentSchema.safeParse(await jsonAt(url));
    if (!document.success) return [fix(name, `${url} is no document of an issuer`, remedy)];
    if (withoutSlash(document.data.issuer) !== withoutSlash(issuer))
      return [fix(name, `${url} is of another issuer`, `Set TOWPATH_OIDC_ISSUER=${document.data.issuer}`)];
    await jsonAt(document.data.jwks_uri);
    return [ok(name, issuer)];
  } catch (error) {
    return [fix(name, reasonOf(error), `${remedy}, and let this machine reach it.`)];
  }
};

const withoutSlash = (issuer: string) => issuer.replace(/\/$/, "");

async function jsonAt(url: string): Promise<unknown> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(withinMs) }).catch((error: unknown) => {
    throw new Error(`${url} doesn't answer`, { cause: error });
  });
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}`);
  return await answer.json().catch(() => null);
}
