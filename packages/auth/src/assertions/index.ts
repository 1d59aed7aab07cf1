export { type AssertionVerifier, createAssertionVerifier } from "./assertion-verifier.ts";
