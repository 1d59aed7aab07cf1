// Takes the lease of runners and keeps it until it is killed. Arguments: kubeconfig, namespace.
import { claimLease, connectionOf, KubernetesApi, keepLease } from "@towpath/runtime/testing/cluster";

const [path = "", namespace = ""] = process.argv.slice(2);
const api = new KubernetesApi(() => connectionOf({ kind: "kubeconfig", path }), namespace);
const identity = await claimLease(api);
const kept = keepLease(api, identity, () => process.exit(1));
await kept.sure();
console.log(JSON.stringify(identity));
setInterval(() => {}, 1000);
