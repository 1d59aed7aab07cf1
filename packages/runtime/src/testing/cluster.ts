// For the tests that need a cluster (tests/kubernetes).

export { KubernetesApi } from "../kubernetes/api/client.ts";
export { connectionOf } from "../kubernetes/api/connection.ts";
export type { KubernetesSettings as ClusterSettings } from "../kubernetes/config.ts";
export { claimLease, keepLease, leaseRequestMs, leaseTimes } from "../kubernetes/leadership.ts";
export { openClusterDriver } from "../kubernetes/open-kubernetes-driver.ts";
export { serverPod } from "../kubernetes/pod/server-pod.ts";
export { fitsServer } from "../kubernetes/pool/pool-fit.ts";
export type { RunnerIdentity, RuntimeDriver } from "../port/driver.ts";
export type { InstanceSpec } from "../port/servers.ts";
export { collect, driverContract, instanceOf, startedBy } from "./driver-contract.ts";
export { tinyServer } from "./tiny-server.ts";
