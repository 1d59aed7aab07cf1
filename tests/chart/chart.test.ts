import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import {
  chart,
  dataOf,
  named,
  namespace,
  podsOf,
  type Rendered,
  release,
  render,
  renderText,
  rulesOf,
  runProgram,
  type Variant,
  validate,
  valuesOf,
  variants,
} from "./render.ts";
import { schemaLocation } from "./schemas.ts";

const rendered = new Map<Variant, readonly Rendered[]>();
const objectsOf = (variant: Variant) => rendered.get(variant) ?? [];
const kindsIn = (objects: readonly Rendered[]) => new Set(objects.map(({ kind }) => kind));

beforeAll(async () => {
  for (const variant of variants) rendered.set(variant, await render(variant));
});

test("OPS-2 KEY-6 web and gateway get a token of an account without a Role where workloads of the cluster may be trusted", async () => {
  const objects = await render("ingress", "--set", "workloads.clusterIssuer=true");
  const pods = podsOf(objects);
  for (const role of ["web", "gateway"])
    expect(pods[role]?.pod).toMatchObject({
      serviceAccountName: `${release}-issuer`,
      automountServiceAccountToken: true,
    });
  const bound = objects.filter(({ kind }) => kind === "RoleBinding" || kind === "ClusterRoleBinding");
  expect(JSON.stringify(bound)).not.toContain(`${release}-issuer`);
  expect(JSON.stringify(objects.filter(({ kind }) => kind === "ConfigMap"))).toContain(
    '"TOWPATH_WORKLOAD_ISSUER":"cluster"',
  );
});

describe.each(variants)("with the values %s", (variant) => {
  test("OPS-2 the chart passes Helm's lint without a warning", async () => {
    const printed = await runProgram("helm", ["lint", "--strict", chart, ...valuesOf(variant)]);
    expect(printed).toContain("1 chart(s) linted, 0 chart(s) failed");
  });

  test("OPS-2 every object is valid for Kubernetes 1.34, the Gateway API and cert-manager, without unknown fields", async () => {
    const { count, problems } = await validate(await renderText(...valuesOf(variant)), schemaLocation);
    expect(problems).toEqual([]);
    expect(count).toBe(objectsOf(variant).length);
  });

  test("OPS-2 every pod is restricted, reads its root only, and has a token if its role starts pods", () => {
    const pods = podsOf(objectsOf(variant));
    expect(Object.keys(pods)).toEqual(expect.arrayContaining(["web", "gateway", "worker", "runner"]));
    for (const [name, { pod, container }] of Object.entries(pods)) {
      const startsPods = name === "worker" || name === "runner";
      expect([name, pod.automountServiceAccountToken, pod.serviceAccountName]).toEqual([
        name,
        startsPods,
        startsPods ? `${release}-${name}` : undefined,
      ]);
      expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        capabilities: { drop: ["ALL"] },
        readOnlyRootFilesystem: true,
      });
      expect(JSON.stringify(pod)).not.toMatch(/hostPath|hostNetwork|hostPID|privileged/);
      // Else a Service named as a setting would set it.
      expect(pod.enableServiceLinks).toBe(false);
      expect(container.args).toEqual(name === "migrate" ? ["migrate"] : ["run", name]);
    }
  });

  test("OPS-2 nothing secret is in a ConfigMap, in arguments or in the environment's literals", () => {
    const objects = objectsOf(variant);
    const open = objects.filter(({ kind }) => kind !== "Secret");
    expect(JSON.stringify(open)).not.toContain("hidden");
    for (const { container } of Object.values(podsOf(objects)))
      for (const { name, value } of container.env)
        if (value !== undefined) expect(["TOWPATH_RUN_DIR", "TOWPATH_KUBERNETES_RUNNER_SERVICE"]).toContain(name);
    const secretValues = objects.filter(({ kind }) => kind === "Secret").flatMap((each) => Object.values(dataOf(each)));
    for (const value of secretValues) expect(JSON.stringify(open)).not.toContain(value);
  });

  test("OPS-2 every Secret that a pod needs is the release's own or one that exists", () => {
    const objects = objectsOf(variant);
    const keys = new Set(
      objects
        .filter(({ kind }) => kind === "Secret")
        .flatMap((each) => Object.keys(dataOf(each)).map((key) => `${each.metadata.name} ${key}`)),
    );
    const references = Object.values(podsOf(objects)).flatMap(({ container }) =>
      container.env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? []),
    );
    expect(references.length).toBeGreaterThan(10);
    for (const { name, key } of references.filter(({ name }) => !name.startsWith("own-")))
      expect(keys).toContain(`${name} ${key}`);
  });
});

test("OPS-2 the schemas refuse what an API server would", async () => {
  const text = await renderText(...valuesOf("smallest"));
  const wrong = text.replaceAll("readOnlyRootFilesystem:", "readOnlyRoot:").replaceAll("hostnames:", "hosts:");
  const { problems } = await validate(wrong.replaceAll("issuerRef:", "issuer:"), schemaLocation);
  for (const kind of ["Deployment", "HTTPRoute", "Certificate"]) expect(problems.join("\n")).toContain(`${kind} `);
});

test("OPS-2 the smallest values make roles, services, policies, routes and a certificate, and nothing cluster-wide but the namespace", () => {
  const objects = objectsOf("smallest");
  expect([...kindsIn(objects)].toSorted()).toEqual(
    [
      ...["Certificate", "ConfigMap", "Deployment", "Gateway", "HTTPRoute", "Job", "Namespace", "NetworkPolicy"],
      ...["PodDisruptionBudget", "Role", "RoleBinding", "Secret", "Service", "ServiceAccount"],
    ].toSorted(),
  );
  const certificate = objects.find(({ kind }) => kind === "Certificate");
  expect(certificate?.spec).toMatchObject({
    dnsNames: ["*.mcp.example.com", "towpath.example.com"],
    issuerRef: { name: "letsencrypt", kind: "ClusterIssuer" },
  });
  const budgets = objects.filter(({ kind }) => kind === "PodDisruptionBudget");
  expect(budgets.map(({ metadata }) => metadata.name)).toEqual(
    ["web", "gateway", "worker", "runner"].map((role) => `${release}-${role}`),
  );
});

test("OPS-2 requests for the dashboard go to web, those for any other name to the gateway, by routes or an Ingress", () => {
  for (const variant of ["smallest", "everything"] as const)
    for (const [role, host] of [
      ["web", "towpath.example.com"],
      ["gateway", "*.mcp.example.com"],
    ] as const)
      expect(named(objectsOf(variant), "HTTPRoute", role)?.spec).toMatchObject({
        hostnames: [host],
        rules: [{ backendRefs: [{ name: `${release}-${role}`, port: role === "web" ? 3000 : 8080 }] }],
      });
  expect(named(objectsOf("everything"), "HTTPRoute", "web")?.spec).toMatchObject({
    parentRefs: [{ name: "public", namespace: "gateways", sectionName: "https" }],
  });
  const backend = (role: string) => ({ service: { name: `${release}-${role}`, port: { name: "http" } } });
  expect(objectsOf("ingress").find(({ kind }) => kind === "Ingress")?.spec).toMatchObject({
    ingressClassName: "nginx",
    tls: [{ secretName: "wildcard", hosts: ["*.mcp.example.com", "towpath.example.com"] }],
    rules: [
      { host: "*.mcp.example.com", http: { paths: [{ path: "/", backend: backend("gateway") }] } },
      { host: "towpath.example.com", http: { paths: [{ path: "/", backend: backend("web") }] } },
    ],
  });
  for (const variant of ["ingress", "existingSecrets"] as const)
    expect(kindsIn(objectsOf(variant))).not.toContain("HTTPRoute");
});

test("OPS-2 where other addresses lead here, nothing asks for a certificate", () => {
  expect(kindsIn(objectsOf("existingSecrets"))).not.toContain("Certificate");
});

test("OPS-2 a secret that changes starts the pods that use it again, also one of the settings of all", async () => {
  const marks = async (...args: readonly string[]) => {
    const objects = await render("everything", ...args);
    return Object.fromEntries(
      ["web", "gateway", "worker", "runner"].map((role) => {
        const spec = named(objects, "Deployment", role)?.spec as { template: { metadata: { annotations: object } } };
        return [role, spec.template.metadata.annotations];
      }),
    );
  };
  const [before, again, mail, database] = await Promise.all([
    marks(),
    marks(),
    marks("--set", "mail.url=smtp://changed.example"),
    marks("--set", "database.url=postgresql://changed.example/towpath"),
  ]);
  expect(again).toEqual(before);
  const changed = (after: typeof before) =>
    Object.keys(before).filter((role) => JSON.stringify(after[role]) !== JSON.stringify(before[role]));
  expect([changed(mail), changed(database)]).toEqual([
    ["web", "worker"],
    ["web", "gateway", "worker", "runner"],
  ]);
});

test("OPS-2 settings follow from the values", () => {
  expect(dataOf(named(objectsOf("everything"), "ConfigMap", "settings"))).toMatchObject({
    TOWPATH_URL: "https://towpath.example.com",
    TOWPATH_SERVER_URL: "https://{name}.mcp.example.com",
    TOWPATH_DRIVER: "kubernetes",
    TOWPATH_KUBERNETES_NAMESPACE: "tenants",
    TOWPATH_KUBERNETES_IMAGE: "registry.example.com/towpath-servers:1",
    TOWPATH_KUBERNETES_IMAGE_PULL_SECRETS: "registry,mirror",
    TOWPATH_KUBERNETES_STORAGE_CLASS: "fast",
    TOWPATH_KUBERNETES_CACHE_MIB: "4096",
    TOWPATH_ARTIFACTS: "s3://towpath/production",
    TOWPATH_GATEWAY_SPOOL_TO: "s3://towpath/production/request-logs",
    TOWPATH_PROXIES: "10.244.0.0/16,fd00::/8",
    TOWPATH_KEEP_AUDIT_LOG_DAYS: "730",
  });
  const smallest = dataOf(named(objectsOf("smallest"), "ConfigMap", "settings"));
  expect(Object.values(smallest)).not.toContain("");
  expect(smallest).not.toHaveProperty("TOWPATH_KUBERNETES_STORAGE_CLASS");
});

test("OPS-2 a role gets only the secrets that it uses", () => {
  const pods = podsOf(objectsOf("everything"));
  const secretsOf = (role: string) => pods[role]?.container.env.map(({ name }) => name) ?? [];
  expect(secretsOf("migrate").toSorted()).toEqual(["DATABASE_DIRECT_URL", "DATABASE_URL", "TOWPATH_RUN_DIR"]);
  expect(secretsOf("gateway").toSorted()).toEqual(
    [
      "DATABASE_DIRECT_URL",
      "DATABASE_URL",
      "TOWPATH_OTLP_HEADERS",
      "TOWPATH_PREVIOUS_SECRETS",
      "TOWPATH_SECRET",
      "TOWPATH_ARTIFACTS_ACCESS_KEY_ID",
      "TOWPATH_ARTIFACTS_SECRET_ACCESS_KEY",
    ].toSorted(),
  );
  for (const role of ["gateway", "worker", "runner"])
    for (const name of ["TOWPATH_OPERATOR_TOKEN", "TOWPATH_OIDC_CLIENT_SECRET"])
      expect([role, secretsOf(role).includes(name)]).toEqual([role, false]);
  const askModels = Object.keys(pods).filter((role) => secretsOf(role).includes("TOWPATH_CHAT_MODELS"));
  expect(askModels.toSorted()).toEqual(["web", "worker"]);
  expect(dataOf(named(objectsOf("everything"), "Secret", "github")).GITHUB_APP_PRIVATE_KEY).toContain(
    "-----BEGIN PRIVATE KEY-----\nhidden-private-key\n",
  );
});

test("OPS-2 the secret of the instance is long, made once, and outlives an uninstall", async () => {
  const secret = named(objectsOf("smallest"), "Secret", "instance");
  const { TOWPATH_SECRET: made = "", TOWPATH_OPERATOR_TOKEN: token = "" } = dataOf(secret);
  expect([made.length, token.length]).toEqual([48, 48]);
  expect(made).not.toBe(token);
  expect(secret?.metadata.annotations["helm.sh/resource-policy"]).toBe("keep");
  expect(dataOf(named(objectsOf("everything"), "Secret", "instance"))).toEqual({
    TOWPATH_SECRET: "hidden-instance-secret-of-32-chars",
    TOWPATH_PREVIOUS_SECRETS: "hidden-previous-secret-of-32-chars",
    TOWPATH_OPERATOR_TOKEN: "hidden-operator-token-of-32-chars",
  });
});

test("OPS-2 the database is migrated before an install or upgrade changes anything", () => {
  const job = objectsOf("smallest").find(({ kind }) => kind === "Job");
  expect(job?.metadata.annotations["helm.sh/hook"]).toBe("pre-install,pre-upgrade");
  const secret = named(objectsOf("smallest"), "Secret", "database-migrate");
  expect(secret?.metadata.annotations).toMatchObject({
    "helm.sh/hook": "pre-install,pre-upgrade",
    "helm.sh/hook-weight": "-1",
  });
});

test("RUN-8 waiting runners are ready like any pod, and only the leader is behind the Service", () => {
  const objects = objectsOf("smallest");
  expect(named(objects, "Service", "runner")?.spec).toEqual({ ports: [{ name: "http", port: 9000 }] });
  expect(named(objects, "Service", "web")?.spec).toHaveProperty("selector");
  const { runner, web } = podsOf(objects);
  expect(runner?.container.livenessProbe).toEqual(web?.container.livenessProbe);
  expect(runner?.container.env).toEqual(
    expect.arrayContaining([
      { name: "TOWPATH_KUBERNETES_RUNNER_SERVICE", value: `${namespace}/${release}-runner` },
      { name: "TOWPATH_KUBERNETES_POD_ADDRESS", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
    ]),
  );
  // Else a roll-out never counts as complete.
  expect(named(objects, "Deployment", "runner")?.spec).not.toHaveProperty("progressDeadlineSeconds");
  const names = rulesOf(named(objects, "Role", "runner-leader")).map(({ verbs, resourceNames }) => [
    verbs,
    resourceNames,
  ]);
  expect(names).toEqual([
    [["get"], [`${release}-runner`]],
    [["create"], undefined],
    [["get", "update", "delete"], [`${release}-runner-leader`]],
  ]);
});

test("OPS-2 rights are those of two roles in the tenants' namespace and of the leader, and the page on Kubernetes lists them", async () => {
  const objects = objectsOf("everything");
  expect(kindsIn(objects)).not.toContain("ClusterRole");
  const rights = objects.filter(({ kind }) => kind === "Role" || kind === "RoleBinding");
  expect(rights.map(({ metadata }) => metadata.namespace).toSorted()).toEqual([
    ...[namespace, namespace],
    ...Array(4).fill("tenants"),
  ]);
  expect(named(objects, "RoleBinding", "runner")?.subjects).toEqual([
    { kind: "ServiceAccount", name: `${release}-runner`, namespace },
  ]);
  const page = await readFile(join(chart, "../../docs/kubernetes.md"), "utf8");
  const listed = [...page.matchAll(/^\| (runner|worker) \| `([a-z/]+)` \| ([a-z, ]+) \|/gm)];
  const granted = ["runner", "runner-leader", "worker"].flatMap((part) => {
    const role = part.replace("-leader", "");
    const verbs = new Map<string, string[]>();
    for (const { resources, verbs: added } of rulesOf(named(objects, "Role", part)))
      for (const resource of resources) verbs.set(resource, [...(verbs.get(resource) ?? []), ...added]);
    return [...verbs].map(([resource, each]) => `${role} ${resource}: ${each.join(", ")}`);
  });
  expect(listed.map(([, role, resource, verbs]) => `${role} ${resource}: ${verbs}`).toSorted()).toEqual(
    granted.toSorted(),
  );
});

test("OPS-11 CAP-2 a gateway's pod has the time to end calls that the values say, and what it writes at its end comes on top", async () => {
  const timesOf = (objects: readonly Rendered[]) => ({
    setting: dataOf(named(objects, "ConfigMap", "settings")).TOWPATH_GATEWAY_DRAIN_SECONDS,
    ...Object.fromEntries(
      Object.entries(podsOf(objects)).map(([role, { pod }]) => [role, pod.terminationGracePeriodSeconds]),
    ),
  });
  const usual = { setting: "300", web: 330, gateway: 350, worker: 330, runner: 30 };
  expect(timesOf(objectsOf("existingSecrets"))).toEqual(usual);
  const longer = await render("existingSecrets", "--set", "gateway.drainSeconds=3660");
  expect(timesOf(longer)).toEqual({ ...usual, setting: "3660", gateway: 3710 });
});

test("OPS-11 pods of a role spread over zones and nodes where they can, and drains end one of them at a time", () => {
  const objects = objectsOf("smallest");
  const pods = podsOf(objects);
  for (const role of ["web", "gateway", "worker", "runner"]) {
    const { pod, labels } = pods[role] ?? {};
    const matchLabels = {
      "app.kubernetes.io/name": "towpath",
      "app.kubernetes.io/instance": release,
      "app.kubernetes.io/component": role,
    };
    expect(labels).toMatchObject(matchLabels);
    expect(pod?.topologySpreadConstraints).toEqual(
      ["topology.kubernetes.io/zone", "kubernetes.io/hostname"].map((topologyKey) => ({
        topologyKey,
        maxSkew: 1,
        // In a cluster of one node or zone they run too.
        whenUnsatisfiable: "ScheduleAnyway",
        labelSelector: { matchLabels },
        // Else the pods of the former release count during an upgrade.
        matchLabelKeys: ["pod-template-hash"],
      })),
    );
    expect(named(objects, "PodDisruptionBudget", role)?.spec).toEqual({
      maxUnavailable: 1,
      unhealthyPodEvictionPolicy: "AlwaysAllow",
      selector: { matchLabels },
    });
  }
  for (const { pod } of Object.values(podsOf(objectsOf("existingSecrets"))))
    expect(pod).not.toHaveProperty("topologySpreadConstraints");
  expect(kindsIn(objectsOf("existingSecrets"))).not.toContain("PodDisruptionBudget");
});

test("OPS-2 the number of pods is the autoscaler's where there is one", () => {
  const replicas = (variant: Variant, role: string) => named(objectsOf(variant), "Deployment", role)?.spec;
  for (const role of ["web", "gateway", "worker"]) {
    expect(replicas("everything", role)).not.toHaveProperty("replicas");
    expect(named(objectsOf("everything"), "HorizontalPodAutoscaler", role)?.spec).toMatchObject({
      scaleTargetRef: { kind: "Deployment", name: `${release}-${role}` },
    });
    expect(replicas("smallest", role)).toMatchObject({ replicas: 2 });
  }
  expect(replicas("everything", "runner")).toMatchObject({ replicas: 3 });
});
