import { type ErrorCode, TowpathError } from "../../errors/index.ts";
import type { SignInProblem } from "./sign-in-step.schema.ts";

/** Error codes of RFC 6749 (sections 4.1.2.1 and 5.2), RFC 7591 (section 3.2.2) and RFC 8707 (section 2). */
const codes = {
  invalid_request: "invalid_input",
  invalid_client: "unauthenticated",
  invalid_grant: "invalid_input",
  unauthorized_client: "invalid_input",
  unsupported_grant_type: "invalid_input",
  unsupported_response_type: "invalid_input",
  invalid_scope: "invalid_input",
  invalid_target: "invalid_input",
  invalid_redirect_uri: "invalid_input",
  invalid_client_metadata: "invalid_input",
  access_denied: "forbidden",
} as const satisfies Record<string, ErrorCode>;
export type OAuthErrorCode = keyof typeof codes;

/**
 * A refusal of the authorization server. Clients get the code as `error`, and the message as `error_description`;
 * `problem` shows the server's organization the precise reason (`SignInStep`).
 */
export class OAuthError extends TowpathError {
  readonly oauthCode: OAuthErrorCode;
  readonly problem: SignInProblem;

  constructor(
    code: OAuthErrorCode,
    description: string,
    { problem = "request_invalid", cause }: { readonly problem?: SignInProblem; readonly cause?: unknown } = {},
  ) {
    super(codes[code], description, { cause });
    this.name = "OAuthError";
    this.oauthCode = code;
    this.problem = problem;
  }
}
