import { createHash, timingSafeEqual } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { clientAddressHeader } from "@towpath/auth";
import type { Context } from "@towpath/core/context";
import { TowpathError } from "@towpath/core/errors";
import { services } from "~/compose.server.ts";

const shortestToken = 32;

/**
 * Whether a bearer token is the instance's operator token. It is read each time, so that a new one counts at once.
 * Compared by digest and in constant time; without a file, or with one too short to be safe, nothing is accepted.
 */
export async function isOperatorToken(file: string, given: string): Promise<boolean> {
  const token = await readFile(file, "utf8").then(
    (text) => text.trim(),
    () => "",
  );
  if (token.length < shortestToken) return false;
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(token), digest(given));
}

/** The token of an `Authorization: Bearer` header; null without one. */
export function bearerToken(headers: Headers): string | null {
  return /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1] ?? null;
}

/** @throws TowpathError `unauthenticated` for anything but the operator token. A session's cookie counts for nothing here. */
export async function operatorContext(request: Request): Promise<Context> {
  const { config, contextFor } = services();
  const token = bearerToken(request.headers);
  if (token && (await isOperatorToken(join(config.dataDirectory, "operator-token"), token))) {
    return contextFor({ kind: "operator", ipAddress: request.headers.get(clientAddressHeader) });
  }
  throw new TowpathError("unauthenticated", "The operator token is missing or wrong.");
}
