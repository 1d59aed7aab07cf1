import { BlockList, isIPv6 } from "node:net";
import { expect, test } from "vitest";
import { z } from "zod";
import { namespace, type Rendered, release, render } from "./render.ts";

// What the policies say together. That a plug-in enforces them, no test of this stage shows.

const selectorSchema = z.strictObject({
  matchLabels: z.record(z.string(), z.string()).default({}),
  matchExpressions: z
    .array(z.strictObject({ key: z.string(), operator: z.literal("In"), values: z.array(z.string()) }))
    .default([]),
});
const portSchema = z.object({ port: z.number(), endPort: z.number().optional(), protocol: z.string() });
const peerSchema = z.object({
  namespaceSelector: selectorSchema.optional(),
  podSelector: selectorSchema.optional(),
  ipBlock: z.object({ cidr: z.string(), except: z.array(z.string()).default([]) }).optional(),
});
const policySchema = z.object({
  podSelector: selectorSchema,
  policyTypes: z.array(z.string()),
  ingress: z
    .array(z.object({ ports: z.array(portSchema).optional(), from: z.array(peerSchema).optional() }))
    .default([]),
  egress: z.array(z.object({ ports: z.array(portSchema).optional(), to: z.array(peerSchema) })).default([]),
});
type Policy = z.output<typeof policySchema>;
type Labels = Readonly<Record<string, string>>;

const policiesIn = (objects: readonly Rendered[], within: string | undefined): Policy[] =>
  objects
    .filter(({ kind, metadata }) => kind === "NetworkPolicy" && metadata.namespace === within)
    .map(({ spec }) => policySchema.parse(spec));

const selects = ({ matchLabels, matchExpressions }: Policy["podSelector"], labels: Labels) =>
  Object.entries(matchLabels).every(([name, value]) => labels[name] === value) &&
  matchExpressions.every(({ key, values }) => values.includes(labels[key] ?? ""));
const includes = (networks: readonly string[], address: string) => {
  const list = new BlockList();
  const family = isIPv6(address) ? "ipv6" : "ipv4";
  // A list finds IPv4 addresses in networks of IPv6, too, which the kernel doesn't.
  for (const network of networks.filter((each) => isIPv6(each.split("/")[0] ?? "") === isIPv6(address))) {
    const [base = "", bits = ""] = network.split("/");
    list.addSubnet(base, Number(bits), family);
  }
  return list.check(address, family);
};
const opens = (ports: readonly z.output<typeof portSchema>[] | undefined, port: number) =>
  ports === undefined || ports.some((each) => port >= each.port && port <= (each.endPort ?? each.port));

/** Whether a pod may connect to an address, as policies say. */
const reaches = (policies: readonly Policy[], labels: Labels, address: string, port: number): boolean => {
  const own = policies.filter((each) => each.policyTypes.includes("Egress") && selects(each.podSelector, labels));
  if (own.length === 0) return true;
  const rules = own.flatMap(({ egress }) => egress).filter(({ ports }) => opens(ports, port));
  return rules.some(({ to }) =>
    to.some(({ ipBlock }) => ipBlock && includes([ipBlock.cidr], address) && !includes(ipBlock.except, address)),
  );
};

/** Whether a pod of the platform, by its component, may connect to one. */
const admits = (policies: readonly Policy[], labels: Labels, component: string, port: number, from = namespace) => {
  const own = policies.filter((each) => each.policyTypes.includes("Ingress") && selects(each.podSelector, labels));
  if (own.length === 0) return true;
  const caller = {
    "app.kubernetes.io/name": "towpath",
    "app.kubernetes.io/instance": release,
    "app.kubernetes.io/component": component,
  };
  const rules = own.flatMap(({ ingress }) => ingress).filter(({ ports }) => opens(ports, port));
  return rules.some(({ from: peers }) =>
    (peers ?? [{}]).some(
      ({ namespaceSelector, podSelector }) =>
        (namespaceSelector === undefined || selects(namespaceSelector, { "kubernetes.io/metadata.name": from })) &&
        (podSelector === undefined || selects(podSelector, caller)),
    ),
  );
};

const pod = (role: string, network = "internet") => ({ "towpath.dev/role": role, "towpath.dev/network": network });
const inside = [
  ...["10.244.0.7", "10.96.0.1", "172.16.3.4", "192.168.1.1", "100.64.0.9", "127.0.0.1", "169.254.169.254"],
  ...["fd00:ec2::254", "fe80::1", "::1"],
];

test("RUN-2 servers and builds reach the internet, and neither the cluster, private networks nor metadata", async () => {
  const policies = policiesIn(await render("smallest"), "towpath-servers");
  for (const role of ["server", "build", "probe"]) {
    for (const address of ["1.1.1.1", "203.0.113.9", "2606:4700::1111"])
      expect([role, address, reaches(policies, pod(role), address, 443)]).toEqual([role, address, true]);
    for (const address of inside)
      expect([role, address, reaches(policies, pod(role), address, 443)]).toEqual([role, address, false]);
  }
  expect(reaches(policies, pod("server", "none"), "1.1.1.1", 443)).toBe(false);
  expect(reaches(policies, {}, "1.1.1.1", 443)).toBe(false);
});

test("RUN-2 resolvers are open on port 53 only, further networks as the values name them", async () => {
  const policies = policiesIn(await render("everything"), "tenants");
  const reach = (address: string, port: number) => reaches(policies, pod("server"), address, port);
  expect([reach("169.254.20.10", 53), reach("169.254.20.10", 80), reach("fd00::a", 53)]).toEqual([true, false, true]);
  expect([reach("10.1.2.3", 9000), reach("10.1.2.3", 22), reach("10.1.2.4", 9000)]).toEqual([true, false, false]);
  expect(reach("10.1.3.200", 22)).toBe(true);
  expect([reach("203.0.113.9", 443), reach("2001:db8::1", 443), reach("198.51.100.1", 443)]).toEqual([
    ...[false, false, true],
  ]);
  for (const address of inside) expect([address, reach(address, 443)]).toEqual([address, false]);
});

test("RUN-2 servers are called by gateway, runner and worker only, builds by the worker, the runner by the platform", async () => {
  const objects = await render("smallest");
  const tenants = policiesIn(objects, "towpath-servers");
  const callers = ["web", "gateway", "runner", "worker", "other"];
  const mayCall = (labels: Labels, port: number) => callers.filter((caller) => admits(tenants, labels, caller, port));
  expect(mayCall(pod("server"), 8000)).toEqual(["gateway", "runner", "worker"]);
  // One that waits becomes a server, and is given it by the runner.
  expect(mayCall(pod("waiting"), 8000)).toEqual(["gateway", "runner", "worker"]);
  for (const role of ["server", "waiting"]) expect(mayCall(pod(role), 8001)).toEqual(["runner"]);
  expect(mayCall(pod("server"), 22)).toEqual([]);
  for (const port of [7071, 7072, 7073]) expect(mayCall(pod("build"), port)).toEqual(["worker"]);
  expect(mayCall(pod("probe"), 8000)).toEqual([]);
  expect(admits(tenants, pod("server"), "gateway", 8000, "towpath-servers")).toBe(false);
  const runner = { "app.kubernetes.io/name": "towpath", "app.kubernetes.io/instance": release };
  const platform = policiesIn(objects, undefined);
  const calls = callers.filter((caller) =>
    admits(platform, { ...runner, "app.kubernetes.io/component": "runner" }, caller, 9000),
  );
  expect(calls).toEqual(["web", "gateway", "worker"]);
});
