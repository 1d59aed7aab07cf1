/**
 * Carries the person's own credentials for a passthrough server to the relay, whose own `Authorization` is Towpath's.
 */
export const authorizationHeader = "towpath-server-authorization";

/** Marks answers that are Towpath's own refusals, not the server's. */
export const refusalHeader = "towpath-refusal";
