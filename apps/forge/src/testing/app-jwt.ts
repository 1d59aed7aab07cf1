import { createPrivateKey } from "node:crypto";
import { SignJWT } from "jose";
import { testPrivateKey } from "./test-forge.ts";

/** A token as the App makes it; for tests that speak to the REST API without the client. */
export function createAppJwt(input: { issuer?: string; key?: string; lifetime?: number } = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const key = createPrivateKey(input.key ?? testPrivateKey);
  const jwt = new SignJWT({}).setProtectedHeader({ alg: "RS256" }).setIssuer(input.issuer ?? "4242");
  return jwt
    .setIssuedAt(now)
    .setExpirationTime(now + (input.lifetime ?? 300))
    .sign(key);
}
