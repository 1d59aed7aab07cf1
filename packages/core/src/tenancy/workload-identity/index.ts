export {
  createWorkloadIdentity,
  deleteWorkloadIdentity,
  listWorkloadIdentities,
  revokeWorkloadIdentity,
} from "./workload-identities.ts";
export { type WorkloadIdentityView, workloadIdentityViewSchema } from "./workload-identity.store.ts";
