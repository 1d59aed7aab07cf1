import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Readable } from "node:stream";
import type { OAuthClientInformationMixed, OAuthDiscoveryState, OAuthTokens } from "@modelcontextprotocol/client";
import type { Page } from "playwright-core";

/**
 * Opens a client's authorization URL, signs in if asked, and consents. Returns the parameters that the client gets.
 * `read` is called on the consent page before.
 */
export async function allowInBrowser(
  page: Page,
  url: string | URL,
  { email, read }: { readonly email: string; readonly read?: (page: Page) => Promise<void> },
): Promise<URLSearchParams> {
  await page.goto(String(url));
  const allow = page.getByRole("button", { name: "Allow" });
  const password = page.getByLabel("Password");
  await allow.or(password).waitFor();
  if (await password.isVisible()) {
    await page.getByLabel("Email").fill(email);
    await password.fill("correct horse battery staple");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
  }
  await allow.waitFor();
  await read?.(page);
  // The client may redirect the person to a page of its own at once.
  const answered = page.waitForRequest((request) => /[?&]code=/.test(request.url()) && request.isNavigationRequest());
  await allow.click();
  return new URL((await answered).url()).searchParams;
}

/** A client's callback page. */
export async function openCallback(): Promise<{ url: string; close: () => Promise<void> }> {
  const server: Server = createServer((_, response) => response.end("done"));
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    close: async () => void server.close().closeAllConnections(),
  };
}

/** An in-memory OAuth provider for the SDKs; `asked` is the URL that it would open in a browser. */
export function memoryProvider(redirectUrl: string, name: string) {
  const kept: {
    client?: OAuthClientInformationMixed;
    tokens?: OAuthTokens;
    discovered?: OAuthDiscoveryState;
    verifier?: string;
    asked?: URL;
  } = {};
  return {
    kept,
    redirectUrl,
    clientMetadata: { client_name: name, redirect_uris: [redirectUrl], token_endpoint_auth_method: "none" },
    clientInformation: () => kept.client,
    saveClientInformation(client: OAuthClientInformationMixed) {
      kept.client = client;
    },
    tokens: () => kept.tokens,
    saveTokens(tokens: OAuthTokens) {
      kept.tokens = tokens;
    },
    discoveryState: () => kept.discovered,
    saveDiscoveryState(state: OAuthDiscoveryState) {
      kept.discovered = state;
    },
    redirectToAuthorization(url: URL) {
      kept.asked = url;
    },
    saveCodeVerifier(verifier: string) {
      kept.verifier = verifier;
    },
    codeVerifier: () => kept.verifier ?? "",
  };
}

/** The first authorization URL that a program prints. */
export function printedAddress(...streams: (Readable | null)[]): Promise<string> {
  let printed = "";
  return new Promise((resolve, reject) => {
    for (const stream of streams) {
      stream?.on("data", (chunk: Buffer) => {
        printed += chunk.toString();
        const found = /https?:\/\/\S+\/oauth\/authorize\?\S+(?=\s)/.exec(printed)?.[0];
        if (found) resolve(found);
      });
      stream?.once("close", () => reject(new Error(`No address to sign in at was printed:\n${printed}`)));
    }
  });
}
