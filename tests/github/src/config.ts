export type ForgeConfig = {
  /** The state and the repositories are in its directory `forge`. */
  readonly dataDirectory: string;
  readonly port: number;
  /** As browsers and git see it; no trailing slash. */
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
