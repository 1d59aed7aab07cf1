import { z } from "zod";

const url = z
  .url({ protocol: /^https?$/ })
  .max(300)
  .refine((text) => !text.endsWith("/"), "must have no trailing slash");

const secretText = (what: string) => z.string().trim().min(1, `${what} is empty`).max(20_000);

/** What GitHub returns for a manifest's code, and where it was asked. */
export const connectGitHubSchema = z.object({
  /** Of the new connection; it is part of its webhook's address. */
  id: z.uuid(),
  /** For browsers: https://github.com */
  url,
  /** For REST: https://api.github.com */
  apiUrl: url,
  appId: z.string().regex(/^\d{1,15}$/),
  appSlug: z.string().regex(/^[a-z0-9][a-z0-9-]{0,99}$/),
  clientId: z.string().min(1).max(100),
  ownerLogin: z.string().min(1).max(100),
  clientSecret: secretText("The client secret"),
  /** PEM */
  privateKey: secretText("The private key"),
  webhookSecret: secretText("The webhook secret"),
});
export type ConnectGitHubInput = z.input<typeof connectGitHubSchema>;

/** Secrets in place of the stored ones; those that are left out stay. */
export const changeGitHubKeysSchema = z
  .object({
    clientSecret: secretText("The client secret").optional(),
    privateKey: secretText("The private key").optional(),
    webhookSecret: secretText("The webhook secret").optional(),
  })
  .refine((keys) => Object.values(keys).some((key) => key !== undefined), "Give at least one new key or secret");
export type ChangeGitHubKeysInput = z.input<typeof changeGitHubKeysSchema>;

/** The hosts of github.com and of an Enterprise server, for people: "GitHub" or "GitHub at HOST". */
export function gitHubHostName(url: string): string {
  const { hostname, host } = new URL(url);
  return hostname === "github.com" || hostname === "api.github.com" ? "GitHub" : `GitHub at ${host}`;
}

/** REST's address at a host: `https://github.com` → `https://api.github.com`, others as GitHub Enterprise Server. */
export function gitHubApiUrl(url: string): string {
  const { protocol, host, hostname } = new URL(url);
  if (hostname === "github.com") return "https://api.github.com";
  // Enterprise Cloud with data residency.
  if (hostname.endsWith(".ghe.com")) return `${protocol}//api.${host}`;
  return `${protocol}//${host}/api/v3`;
}
