// For the tests that need a cluster (tests/kubernetes).

export { KubernetesApi } from "../kubernetes/api/client.ts";
export { connectionOf } from "../kubernetes/api/connection.ts";
export { PodBuilds } from "../kubernetes/build/pod-builds.ts";
export { buildTests } from "./build-contract.ts";
