import type { McpClientError } from "../client/errors.ts";

/** Why a server could not be inspected. `message` is for the person who named it: what happened, and what to do. */
export type InspectionProblem = { readonly code: string; readonly message: string };

type Circumstances = {
  readonly hasCredential: boolean;
  /** The server's last answer; null: it never answered. */
  readonly answer: Response | null;
};

export function problemOf(error: McpClientError, { hasCredential, answer }: Circumstances): InspectionProblem {
  const status = error.httpStatus === null ? "" : ` (HTTP ${error.httpStatus})`;
  switch (error.code) {
    case "unauthorized":
      return { code: "needs_credentials", message: credentialsText(hasCredential, answer) };
    case "forbidden":
      return {
        code: "forbidden",
        message: hasCredential
          ? "The server knows this credential, but it may not do this (HTTP 403). Use one with more rights."
          : "The server refuses requests without a credential (HTTP 403). Add the header or token that it asks for.",
      };
    case "not_found":
      return {
        code: "not_found",
        message: "There is nothing at this path (HTTP 404). An MCP endpoint's address often ends in /mcp.",
      };
    case "timeout":
      return { code: "timeout", message: "The server accepted the connection, but did not answer in time." };
    case "unreachable":
      return {
        code: "unreachable",
        message: status
          ? `The server answers, but fails${status}. Try again later.`
          : "The server closed the connection.",
      };
    case "server_error":
      return { code: "server_error", message: `The server refused the handshake: ${error.message}` };
    case "too_large":
      return { code: "too_large", message: error.message };
    case "aborted":
      return { code: "aborted", message: "The check was canceled." };
    case "not_mcp":
      return {
        code: "not_mcp",
        message: `Something answers there${answer ? ` (HTTP ${answer.status})` : ""}, but it does not speak MCP. Check the path.`,
      };
  }
}

function credentialsText(hasCredential: boolean, answer: Response | null): string {
  if (hasCredential) return "The server refuses this credential (HTTP 401). Check the header and its value.";
  const usesOAuth = /resource_metadata/i.test(answer?.headers.get("www-authenticate") ?? "");
  return usesOAuth
    ? "The server asks for a sign-in (HTTP 401). Towpath can't sign in there as a person: add a token or API key that the server accepts."
    : "The server asks for a credential (HTTP 401). Add the header or token that it accepts.";
}
