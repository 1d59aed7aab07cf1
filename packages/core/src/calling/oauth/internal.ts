export { endIssuer } from "./end-issuer.ts";
