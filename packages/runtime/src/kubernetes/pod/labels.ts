/** Labels of the driver's objects. NetworkPolicies select pods by role and network. */
export const labels = {
  /** `server`, `probe` or `build`; `waiting`: it becomes a server. */
  role: "towpath.dev/role",
  /** Who made it: a runner's id, or a worker's. */
  owner: "towpath.dev/owner",
  /** Of pods that test the cluster. */
  probe: "towpath.dev/probe",
  instance: "towpath.dev/instance",
  /** Of a build's pod, and of those of servers that it inspects. */
  build: "towpath.dev/build",
  /** Whose build, cache or interpreter it is. */
  organization: "towpath.dev/organization",
  /** `none` or `internet`: what the pod may reach. */
  network: "towpath.dev/network",
  /** Of a pod whose interpreter waits for a server: the beginning of its dependency layer's digest. */
  prewarmed: "towpath.dev/prewarmed",
  /** Id of a server's `/data`. */
  data: "towpath.dev/data",
} as const;

export const managedBy = { "app.kubernetes.io/managed-by": "towpath" } as const;
