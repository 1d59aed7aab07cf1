import { gitHubSettingsSchema } from "@towpath/github";
import { z } from "zod";

const url = () => z.url({ protocol: /^https?$/ }).transform((value) => value.replace(/\/+$/, ""));
const loopbackHosts = ["127.0.0.1", "::1", "localhost"];

const settingsSchema = z
  .object({
    ...gitHubSettingsSchema.shape,
    TOWPATH_DATA_DIR: z.string().min(1),
    TOWPATH_LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
    FORGE_HOST: z
      .string()
      .default("127.0.0.1")
      // Accounts have no passwords here, so anyone who can reach the port can do everything.
      .refine(
        (host) => loopbackHosts.includes(host),
        "the forge serves this machine only: use 127.0.0.1, ::1 or localhost",
      ),
    FORGE_PORT: z.coerce.number().int().min(0).max(65_535).default(8090),
    FORGE_URL: url(),
    FORGE_WEBHOOK_URL: url(),
    FORGE_CALLBACK_URL: url(),
    FORGE_SETUP_URL: url(),
  })
  .superRefine((settings, context) => {
    // GH-3: an instance with its own GitHub App has no stand-in.
    if (settings.GITHUB_URL !== settings.FORGE_URL) {
      const message = `is ${settings.GITHUB_URL}, not the forge (${settings.FORGE_URL}): this instance has a GitHub App, so the forge does not start`;
      context.addIssue({ code: "custom", path: ["GITHUB_URL"], message });
    }
  });

export type ForgeConfig = {
  readonly dataDirectory: string;
  readonly logLevel: string;
  readonly host: string;
  readonly port: number;
  /** As browsers and git see the forge; no trailing slash. */
  readonly url: string;
  /** Empty: it sends none. */
  readonly webhookUrl: string;
  /** Callback URL for OAuth codes; `redirect_uri` may be this or a path below it. */
  readonly callbackUrl: string;
  /** Where the browser is sent after an installation. */
  readonly setupUrl: string;
  readonly app: {
    readonly id: string;
    readonly slug: string;
    readonly privateKey: string;
    readonly clientId: string;
    readonly clientSecret: string;
    readonly webhookSecret: string;
    /** Of an App that was made of a manifest. */
    readonly owner?: { readonly login: string; readonly type: string };
    readonly permissions?: Readonly<Record<string, "read" | "write">>;
    readonly events?: readonly string[];
  };
};

/** Reads the forge's settings. Throws an Error whose message lists every problem at once. */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): ForgeConfig {
  const parsed = settingsSchema.safeParse(environment);
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `  ${issue.path.join(".")}: ${issue.message}`);
    throw new Error(`The forge cannot start. Settings to correct:\n${lines.join("\n")}`);
  }
  const settings = parsed.data;
  return {
    dataDirectory: settings.TOWPATH_DATA_DIR,
    logLevel: settings.TOWPATH_LOG_LEVEL,
    host: settings.FORGE_HOST,
    port: settings.FORGE_PORT,
    url: settings.FORGE_URL,
    webhookUrl: settings.FORGE_WEBHOOK_URL,
    callbackUrl: settings.FORGE_CALLBACK_URL,
    setupUrl: settings.FORGE_SETUP_URL,
    app: {
      id: settings.GITHUB_APP_ID,
      slug: settings.GITHUB_APP_SLUG,
      privateKey: settings.GITHUB_APP_PRIVATE_KEY,
      clientId: settings.GITHUB_CLIENT_ID,
      clientSecret: settings.GITHUB_CLIENT_SECRET,
      webhookSecret: settings.GITHUB_WEBHOOK_SECRET,
    },
  };
}
