import { createPrivateKey } from "node:crypto";
import { z } from "zod";
import type { GitHubConfig } from "./contract.ts";

const withoutTrailingSlash = (url: string) => url.replace(/\/+$/, "");

/** PEM, or base64 of it: many secret stores don't accept line breaks. */
const privateKeySchema = z.string().transform((value, context) => {
  const text = value.includes("-----BEGIN")
    ? value.replaceAll("\\n", "\n")
    : Buffer.from(value, "base64").toString("utf8");
  try {
    if (createPrivateKey(text).asymmetricKeyType === "rsa") return text;
  } catch {
    // Don't report the parser's own message: it may quote the key.
  }
  context.addIssue({ code: "custom", message: "must be an RSA private key in PEM, or base64 of it" });
  return z.NEVER;
});

/** The settings of a GitHub App. */
export const gitHubSettingsSchema = z.object({
  GITHUB_APP_ID: z.string().min(1),
  GITHUB_APP_SLUG: z.string().regex(/^[a-z0-9][a-z0-9-]*$/, "must be the App's name as in its URL"),
  GITHUB_APP_PRIVATE_KEY: privateKeySchema,
  GITHUB_CLIENT_ID: z.string().min(1),
  GITHUB_CLIENT_SECRET: z.string().min(1),
  GITHUB_WEBHOOK_SECRET: z.string().min(16, "must have at least 16 characters"),
  GITHUB_URL: z
    .url({ protocol: /^https?$/ })
    .default("https://github.com")
    .transform(withoutTrailingSlash),
  GITHUB_API_URL: z
    .url({ protocol: /^https?$/ })
    .default("https://api.github.com")
    .transform(withoutTrailingSlash),
});
type GitHubSettings = z.infer<typeof gitHubSettingsSchema>;

function gitHubConfigFrom(settings: GitHubSettings): GitHubConfig {
  return {
    appId: settings.GITHUB_APP_ID,
    appSlug: settings.GITHUB_APP_SLUG,
    privateKey: settings.GITHUB_APP_PRIVATE_KEY,
    clientId: settings.GITHUB_CLIENT_ID,
    clientSecret: settings.GITHUB_CLIENT_SECRET,
    webhookSecret: settings.GITHUB_WEBHOOK_SECRET,
    url: settings.GITHUB_URL,
    apiUrl: settings.GITHUB_API_URL,
  };
}

const isCredential = (name: string) => !name.endsWith("_URL");

/** A process's environment → the App that it names; null when it names none. All its settings, or none. */
export const optionalGitHubConfig = z.looseObject({}).transform((environment, context): GitHubConfig | null => {
  const names = Object.keys(gitHubSettingsSchema.shape);
  const given = Object.fromEntries(names.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])));
  if (!names.some((name) => isCredential(name) && given[name])) return null;
  const settings = gitHubSettingsSchema.safeParse(given);
  if (settings.success) return gitHubConfigFrom(settings.data);
  for (const { path, message } of settings.error.issues) context.addIssue({ code: "custom", path, message });
  return z.NEVER;
});
