/** The one scope: call the tools of a server, and read what it offers. */
export const serverScope = "mcp";

/** Who asks, as the consent page and the lists show it. Name and web page are the client's own claims. */
export type OAuthClientView = {
  readonly id: string;
  readonly name: string;
  readonly uri: string | null;
  readonly version: string | null;
  /** The host that publishes the client's metadata document, which vouches for it; null for a registered client. */
  readonly verifiedHost: string | null;
};

/** What the consent page asks, or why the user can't grant it. */
export type ConsentView = {
  readonly client: OAuthClientView;
  readonly server: {
    readonly name: string;
    readonly url: string;
    readonly organizationName: string;
    /** Path of the icon that the server names for itself; null: none. */
    readonly iconUrl: string | null;
    /** Of a portal, the names of the servers that are called through it; null for a server. */
    readonly portalServers: readonly string[] | null;
    /** What the app could call, destructive ones first; null when nothing is live. */
    readonly tools: readonly ConsentTool[] | null;
  } | null;
  /** The server's URL, shown also to people who may not know more of it. */
  readonly resource: string;
  readonly scopes: readonly string[];
  /** Host, or scheme of an application, that gets the answer. */
  readonly redirectHost: string;
  /** Whether all addresses of the client are on the user's own machine, so that any program there could be it. */
  readonly isLocalOnly: boolean;
  /** Null when the user may grant it. */
  readonly refusal: "not_a_member" | "role" | null;
  readonly userEmail: string;
  /** How often it got access in the last ten minutes by a remembered consent. */
  readonly rememberedTimes: number;
};

/** `isDestructive`: by what the server says of it. */
export type ConsentTool = { readonly name: string; readonly isDestructive: boolean };

/** A client that somebody connected to a server. */
export type GrantView = {
  readonly id: string;
  readonly client: OAuthClientView;
  readonly server: { readonly name: string; readonly url: string; readonly orgSlug: string };
  /** The company sign-in that connected it, by name; null: the person did. */
  readonly companySignIn: string | null;
  readonly scopes: readonly string[];
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
};

/** A client that is connected to a server, with the people who connected it. */
export type ConnectedClientView = {
  readonly client: OAuthClientView;
  readonly people: readonly { readonly name: string; readonly email: string }[];
  /** The company sign-ins that connected it for some of them, by name. */
  readonly companySignIns: readonly string[];
  readonly connectedAt: string;
  readonly lastUsedAt: string | null;
};

/** The servers that an app may mean that does not say which. `clientName`: null for one that is not known yet. */
export type ServerChoiceView = {
  readonly clientName: string | null;
  readonly servers: readonly { readonly name: string; readonly url: string; readonly organizationName: string }[];
};
