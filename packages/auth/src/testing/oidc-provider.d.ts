/** The package has no types; these cover what the test issuer uses. */
declare module "oidc-provider" {
  import type { RequestListener } from "node:http";

  type Account = { readonly accountId: string; claims(): Readonly<Record<string, unknown>> };
  export default class Provider {
    constructor(
      issuer: string,
      configuration: Readonly<Record<string, unknown>> & { findAccount(context: unknown, id: string): Account },
    );
    callback(): RequestListener;
  }
}
