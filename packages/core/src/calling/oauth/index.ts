export type { ClientCredentials } from "./authenticate-client.ts";
export { registerClient } from "./clients.ts";
export { approveAuthorization, denyAuthorization, getConsent } from "./decide-authorization.ts";
export { getServerChoice } from "./get-server-choice.ts";
export { disconnectClient, listConnectedClients, listGrants, revokeGrant } from "./grants.ts";
export { exchangeCode, type IssuedTokens, refreshTokens } from "./issue-tokens.ts";
export { OAuthError } from "./oauth-error.ts";
export { requestAuthorization } from "./request-authorization.ts";
export { revokeToken } from "./revoke-token.ts";
