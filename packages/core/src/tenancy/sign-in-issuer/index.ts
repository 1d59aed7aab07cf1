export { type SignInIssuerView, signInIssuerViewSchema } from "./sign-in-issuer.store.ts";
export {
  createSignInIssuer,
  deleteSignInIssuer,
  hasSignInIssuers,
  listSignInIssuers,
  storeIssuerProblem,
} from "./sign-in-issuers.ts";
