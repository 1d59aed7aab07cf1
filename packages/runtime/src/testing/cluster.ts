// For the tests that need a cluster (tests/kubernetes).

export { KubernetesApi } from "../kubernetes/api/client.ts";
export { connectionOf } from "../kubernetes/api/connection.ts";
export { PodBuilds } from "../kubernetes/build/pod-builds.ts";
export type { KubernetesSettings } from "../kubernetes/config.ts";
export { claimLease, keepLease } from "../kubernetes/leadership.ts";
export { openKubernetesDriver } from "../kubernetes/open-kubernetes-driver.ts";
export { buildTests } from "./build-contract.ts";
export { driverContract, instanceOf, startedBy } from "./driver-contract.ts";
export { tinyServer } from "./tiny-server.ts";
