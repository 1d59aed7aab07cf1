export { IssuerKeyCache, savedIssuerSchema } from "./issuer-key-cache.ts";
export { readIssuerKeys } from "./issuer-keys.ts";
export type { TokenHead, WorkloadTokenProblem } from "./token-head.ts";
export {
  admits,
  createWorkloadChecker,
  currentWorkloads,
  type WorkloadChecker,
  type WorkloadIdentity,
  workloadChannel,
  workloadIdentitySchema,
} from "./workload-identity.ts";
export { createWorkloadVerifier, type WorkloadRefusal, type WorkloadVerifier } from "./workload-verifier.ts";
