import { createHash, randomBytes } from "node:crypto";
import { networkHeader } from "./oauth-site.ts";

// MCP clients that sign in as real ones do, each with a fault of its own.

/** How a client introduces itself, and where its answers go. */
export const clientKinds = {
  /** A program in a terminal, which registers itself and listens on a free port. */
  terminal: { redirectUri: "http://localhost:33418/callback", metadata: { token_endpoint_auth_method: "none" } },
  /** A desktop app with a scheme of its own. */
  desktop: { redirectUri: "desk://mcp/callback", metadata: { token_endpoint_auth_method: "none" } },
  /** A hosted app with a secret. */
  hosted: {
    redirectUri: "https://app.example/callback",
    metadata: { token_endpoint_auth_method: "client_secret_post" },
  },
  /** An app that is known by its metadata document. */
  document: { redirectUri: "http://127.0.0.1:41234/callback", metadata: null },
  /** A script that registers for codes only. */
  script: {
    redirectUri: "http://[::1]:7777/",
    metadata: { token_endpoint_auth_method: "none", grant_types: ["authorization_code"] },
  },
} as const;
export type ClientKind = keyof typeof clientKinds;

export const clientFaults = [
  /** Two windows renew the same token. */
  "parallel windows",
  /** It has a refresh token, and signs in instead. */
  "never renews",
  /** Every third answer to a renewal is lost, and it tries again minutes later. */
  "lost answers",
  /** It returns to another port, another form of the host, and with a slash, and forgets its tokens at each start. */
  "changed address",
  /** To its clock every token has expired. */
  "clock ahead",
  /** It renews only when a call was refused. */
  "clock behind",
  /** It forgets its registration and tokens at each start. */
  "registers again",
  /** It forgets its tokens at each start. */
  "loses tokens",
  /** It names its server's host as resource, and asks for other scopes. */
  "other resource",
  /** It first sends its token to another server. */
  "wrong server",
] as const;
export type ClientFault = (typeof clientFaults)[number];

/** A person with a browser that is signed in. */
export type Person = {
  readonly cookie: string;
  /** Times that a page asked them for anything. */
  asked: number;
};

type Tokens = { readonly access: string; readonly refresh: string | null; readonly expiresAt: number };

type Parts = {
  readonly issuer: string;
  /** The server's address as its metadata names it, and where its gateway listens. */
  readonly resource: string;
  readonly url: URL;
  /** Of a server at which the token is not valid. */
  readonly otherUrl: URL;
  readonly documentUrl: string;
};

export class EmulatedClient {
  readonly name: string;
  readonly kind: ClientKind;
  readonly fault: ClientFault;
  readonly person: Person;
  readonly network: string;
  readonly #parts: Parts;
  /** Times that it got tokens for a code. */
  signIns = 0;
  renewals = 0;
  #registration: { readonly id: string; readonly secret: string | null } | null = null;
  #tokens: Tokens | null = null;
  #starts = 0;
  /** Answers that it did not get. */
  #lost = 0;

  constructor(kind: ClientKind, fault: ClientFault, given: { person: Person; network: string; parts: Parts }) {
    this.name = kind === "document" ? "document" : `${kind}, ${fault}`;
    this.kind = kind;
    this.fault = fault;
    this.person = given.person;
    this.network = given.network;
    this.#parts = given.parts;
  }

  get accessToken(): string {
    return this.#tokens?.access ?? "";
  }

  get refreshToken(): string | null {
    return this.#tokens?.refresh ?? null;
  }

  /** The program starts: most keep what they had. */
  start(): void {
    this.#starts++;
    if (this.fault === "registers again") this.#registration = null;
    if (["registers again", "loses tokens", "changed address"].includes(this.fault)) this.#tokens = null;
  }

  /** Calls the server until it answers with 200. Returns the last status, or that the network broke meanwhile. */
  async call(): Promise<number | "network broke"> {
    const lost = this.#lost;
    if (this.#tokens === null) await this.#signIn();
    if (this.fault === "clock ahead" || (this.fault !== "clock behind" && this.#hasExpired())) await this.#renew();
    if (this.#lost > lost) return "network broke";
    if (this.fault === "wrong server") await this.#post(this.#parts.otherUrl);
    let status = await this.#post(this.#parts.url);
    for (let tries = 0; status === 401 && tries < 2; tries++) {
      await this.#renew();
      if (this.#lost > lost) return "network broke";
      status = await this.#post(this.#parts.url);
    }
    return status;
  }

  /** One request with the present token. */
  async #post(url: URL): Promise<number> {
    const headers = { "content-type": "application/json", authorization: `Bearer ${this.accessToken}` };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "t" } });
    const answer = await fetch(url, { method: "POST", headers: { ...headers, ...this.#who() }, body });
    await answer.arrayBuffer();
    return answer.status;
  }

  status = (): Promise<number> => this.#post(this.#parts.url);

  #who = () => ({ "user-agent": `${this.kind}/1.0`, [networkHeader]: this.network });

  #hasExpired(): boolean {
    return this.#tokens !== null && Date.now() > this.#tokens.expiresAt - 30_000;
  }

  async #renew(): Promise<void> {
    const refresh = this.#tokens?.refresh;
    if (!refresh || this.fault === "never renews") return this.#signIn();
    this.renewals++;
    const send = () => this.#token({ grant_type: "refresh_token", refresh_token: refresh });
    if (this.fault === "lost answers" && this.renewals % 3 === 0) {
      // The server has answered, but the client still has its old tokens.
      await send();
      this.#lost++;
      return;
    }
    const answers = this.fault === "parallel windows" ? await Promise.all([send(), send(), send()]) : [await send()];
    // The window that was slowest stores what it got.
    const last = answers.at(-1);
    if (last) this.#tokens = last;
    else await this.#signIn();
  }

  /** Renews with this token, and keeps nothing of the answer. */
  send = (refreshToken: string): Promise<Response> =>
    this.#ask({ grant_type: "refresh_token", refresh_token: refreshToken });

  #ask(fields: Record<string, string>): Promise<Response> {
    const { id, secret } = this.#registration ?? { id: "", secret: null };
    const resource = this.fault === "other resource" ? new URL(this.#parts.resource).origin : this.#parts.resource;
    const body = new URLSearchParams({ ...fields, resource, client_id: id, ...(secret && { client_secret: secret }) });
    return fetch(`${this.#parts.issuer}/oauth/token`, { method: "POST", body, headers: this.#who() });
  }

  async #token(fields: Record<string, string>): Promise<Tokens | null> {
    const answer = await this.#ask(fields);
    const given = (await answer.json()) as { access_token?: string; refresh_token?: string; expires_in?: number };
    if (!given.access_token) return null;
    const expiresAt = Date.now() + (given.expires_in ?? 0) * 1000;
    return { access: given.access_token, refresh: given.refresh_token ?? null, expiresAt };
  }

  async #register(): Promise<void> {
    const { metadata, redirectUri } = clientKinds[this.kind];
    if (metadata === null) {
      this.#registration = { id: this.#parts.documentUrl, secret: null };
      return;
    }
    const body = JSON.stringify({ ...metadata, client_name: this.name, redirect_uris: [redirectUri] });
    const url = `${this.#parts.issuer}/oauth/register`;
    const answer = await fetch(url, { method: "POST", body, headers: this.#who() });
    const made = (await answer.json()) as { client_id: string; client_secret?: string };
    this.#registration = { id: made.client_id, secret: made.client_secret ?? null };
  }

  /** The address that it listens on this time. */
  #redirectUri(): string {
    const { redirectUri } = clientKinds[this.kind];
    if (this.fault !== "changed address" || !redirectUri.startsWith("http:")) return redirectUri;
    const { pathname } = new URL(redirectUri);
    const host = ["localhost", "127.0.0.1", "[::1]"][this.#starts % 3];
    return `http://${host}:${40_000 + this.#starts}${pathname}${pathname === "/" ? "" : "/"}`;
  }

  async #signIn(): Promise<void> {
    if (this.#registration === null) await this.#register();
    const verifier = randomBytes(32).toString("base64url");
    const redirectUri = this.#redirectUri();
    const parameters = new URLSearchParams({
      client_id: this.#registration?.id ?? "",
      redirect_uri: redirectUri,
      response_type: "code",
      state: randomBytes(8).toString("hex"),
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
      resource: this.#parts.resource,
      scope: this.fault === "other resource" ? "openid offline_access tools:all" : "mcp",
    });
    const location = await this.#browse(`${this.#parts.issuer}/oauth/authorize?${parameters}`);
    const code = new URL(location).searchParams.get("code");
    if (code === null) throw new Error(`${this.name} got no code: ${location}`);
    this.#tokens = await this.#token({
      grant_type: "authorization_code",
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
    });
    if (!this.#tokens) throw new Error(`${this.name} got no tokens`);
    this.signIns++;
  }

  /** The person's browser, from the client's link until it is sent back to the client. */
  async #browse(url: string): Promise<string> {
    const headers = { cookie: this.person.cookie, [networkHeader]: this.network };
    const answer = await fetch(url, { headers, redirect: "manual" });
    const location = answer.headers.get("location") ?? "";
    if (answer.status !== 302) throw new Error(`${this.name}: ${answer.status} ${await answer.text()}`);
    if (!location.startsWith("/oauth/consent")) return location;
    this.person.asked++;
    const request = new URL(location, url).searchParams.get("request") ?? "";
    const chosen = await fetch(new URL("/consent", url), {
      method: "POST",
      headers,
      body: new URLSearchParams({ request, answer: "remember" }),
    });
    return ((await chosen.json()) as { location: string }).location;
  }
}
