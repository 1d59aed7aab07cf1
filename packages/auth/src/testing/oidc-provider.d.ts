/** The package has no types; these cover what the test issuer uses. */
declare module "oidc-provider" {
  import type { RequestListener } from "node:http";

  type Account = { readonly accountId: string; claims(): Readonly<Record<string, unknown>> };
  type Client = { readonly clientId: string; readonly id_at_servers?: string };
  type TokenRequest = {
    readonly oidc: { readonly params: Readonly<Record<string, string | undefined>>; readonly client: Client };
    body: unknown;
  };
  export default class Provider {
    constructor(
      issuer: string,
      configuration: Readonly<Record<string, unknown>> & { findAccount(context: unknown, id: string): Account },
    );
    readonly IdToken: {
      validate(token: string, client: Client): Promise<{ readonly payload: { readonly sub: string } }>;
    };
    registerGrantType(
      name: string,
      handler: (context: TokenRequest) => Promise<void>,
      parameters: readonly string[],
    ): void;
    callback(): RequestListener;
  }
  export const errors: { readonly InvalidRequest: new (description: string) => Error };
}
