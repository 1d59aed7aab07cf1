export { createAssertionVerifier } from "./assertion-verifier.ts";
