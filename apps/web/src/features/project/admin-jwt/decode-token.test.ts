import { SignJWT } from "jose";
import { expect, test } from "vitest";
import { decodeToken } from "./decode-token.ts";

test("PRJ-10 a token's header and claims are decoded, with any characters", async () => {
  const claims = { sub: "zoë 🦦 ???>>>", generation: 3, aud: "towpath:project:1" };
  const key = new Uint8Array(32);
  const token = await new SignJWT(claims).setProtectedHeader({ alg: "HS256", typ: "towpath-admin+jwt" }).sign(key);
  expect(decodeToken(token)).toEqual({ header: { alg: "HS256", typ: "towpath-admin+jwt" }, claims });
});
