import { expect, test } from "vitest";
import { refusal, renderText, type Variant } from "./render.ts";

type Refused = readonly [what: string, values: string, sentence: RegExp, over?: Variant];
const refused: readonly Refused[] = [
  [
    "a domain without wildcard host",
    "hosts: { servers: mcp.example.com }",
    /hosts\.servers is "mcp\.example\.com".*such as \*\.mcp/,
  ],
  [
    "a dashboard below the servers' host",
    "hosts: { dashboard: app.mcp.example.com }",
    /hosts\.dashboard is one of hosts\.servers/,
  ],
  ["routes and an Ingress", "ingress: { enabled: true }", /both true.*set one of them to false/],
  [
    "neither, and no address",
    "gatewayApi: { enabled: false }\nhosts: { dashboard: '', servers: '' }",
    /no address leads here: enable one of them, or set urls/,
  ],
  [
    "hosts that nothing publishes",
    "gatewayApi: { enabled: false }",
    /hosts is set, but gatewayApi\.enabled and ingress\.enabled are false/,
  ],
  [
    "an address without {name}",
    "urls: { servers: 'https://mcp.example.com' }",
    /urls\.servers lacks \{name\}/,
    "existingSecrets",
  ],
  ["no Gateway", "gatewayApi: { className: '' }", /gatewayApi has no Gateway: set gatewayApi\.className/],
  [
    "two Gateways",
    "gatewayApi: { parentRefs: [{ name: public }] }",
    /makes a Gateway and gatewayApi\.parentRefs names others/,
  ],
  [
    "a certificate for another's Gateway",
    "tls: { mode: certManager, issuer: { name: a } }",
    /set tls\.mode to elsewhere/,
    "everything",
  ],
  [
    "a certificate without issuer",
    "tls: { issuer: { name: '' } }",
    /certManager without an issuer: set tls\.issuer\.name/,
  ],
  ["a Secret that mode doesn't use", "tls: { secretName: a }", /tls\.secretName is set, but tls\.mode is certManager/],
  ["no database", "database: { url: '' }", /database needs database\.url: set it, or database\.existingSecret/],
  ["a database twice", "database: { existingSecret: own }", /database\.existingSecret is set, and so is database\.url/],
  ["no bucket", "bucket: { address: '' }", /bucket\.address is empty.*set it to a bucket/],
  ["a bucket without key", "bucket: { secretAccessKey: '' }", /bucket needs bucket\.secretAccessKey/],
  [
    "half a provider",
    "oidc: { issuer: 'https://login.example.com' }",
    /oidc needs oidc\.clientSecret[\s\S]*oidc\.clientId is empty/,
  ],
  [
    "half an App",
    "github: { appId: '1' }",
    /github needs github\.privateKey and github\.clientSecret and github\.webhookSecret/,
  ],
  ["mail without sender", "mail: { url: 'smtp://mail.example.com' }", /mail\.from is empty/],
  ["headers without collector", "tracing: { headers: a=b }", /set tracing\.endpoint/],
  ["a short secret", "instance: { secret: short }", /instance\.secret has fewer than 32 characters/],
  ["no image", "image: { repository: '' }", /image\.repository is empty: build the image/],
  [
    "servers beside the platform",
    "tenants: { namespace: platform }",
    /tenants\.namespace is the release's own namespace/,
  ],
  [
    "data without storage",
    "tenants: { data: { enabled: true } }",
    /without a StorageClass: set tenants\.data\.storageClass/,
  ],
  ["storage without data", "tenants: { data: { storageClass: fast } }", /but tenants\.data\.enabled is false/],
  [
    "policies without resolver",
    "tenants: { networkPolicies: { dns: [] } }",
    /networkPolicies\.dns is empty.*resolv\.conf/,
  ],
  [
    "resolver without policies",
    "tenants: { networkPolicies: { enabled: false } }",
    /enabled is false, but dns, allow or deny are set/,
  ],
  [
    "metadata for servers",
    "tenants: { networkPolicies: { allow: [{ cidr: 169.254.169.254/32 }] } }",
    /would open the metadata of the cloud/,
  ],
  [
    "everything for servers",
    "tenants: { networkPolicies: { allow: [{ cidr: 0.0.0.0/0 }] } }",
    /name only the network that they need/,
  ],
  ["a runner without Lease", "settings: { TOWPATH_DRIVER: sandbox }", /settings\.TOWPATH_DRIVER is set by the chart/],
  [
    "a secret among settings",
    "settings: { TOWPATH_SECRET: hidden }",
    /settings\.TOWPATH_SECRET is secret, and settings go into a ConfigMap/,
  ],
  ["a password among settings", "settings: { UV_INDEX_OWN_PASSWORD: hidden }", /UV_INDEX_OWN_PASSWORD is secret/],
  [
    "a password in an address",
    "settings: { HTTPS_PROXY: 'http://me:hidden@proxy.example.com' }",
    /HTTPS_PROXY is secret/,
  ],
  [
    "more pods at least than at most",
    "web: { autoscaling: { enabled: true, minReplicas: 9 } }",
    /web\.autoscaling\.minReplicas is above maxReplicas/,
  ],
  [
    "interpreters without pods that wait",
    "tenants: { waiting: { replicas: 1, prewarmed: 3 } }",
    /tenants\.waiting\.prewarmed is set.*set tenants\.waiting\.replicas to 2 or more/,
  ],
  // By values.schema.json.
  ["an unknown value", "gatway: { replicas: 3 }", /additional properties 'gatway' not allowed/],
  ["no pods", "runner: { replicas: 0 }", /\/runner\/replicas': minimum: got 0, want 1/],
  ["no time to end calls", "gateway: { drainSeconds: 0 }", /\/gateway\/drainSeconds': minimum: got 0, want 1/],
  ["an unknown mode", "tls: { mode: acme }", /\/tls\/mode': value must be one of/],
  ["a bucket by its URL", "bucket: { address: 'https://towpath.s3.amazonaws.com' }", /\/bucket\/address'/],
  ["a name of a resolver", "tenants: { networkPolicies: { dns: [dns.example.com] } }", /\/networkPolicies\/dns\/0'/],
];

// The rows without their last cell would be another type for `each`.
const rows = refused.map(([what, values, sentence, over = "smallest"]) => ({ what, values, sentence, over }));
test.each(rows)("OPS-2 $what: refused in a sentence with the remedy", async ({ values, sentence, over }) => {
  const printed = await refusal(over, values);
  expect(printed).toMatch(sentence);
  expect(printed).not.toContain("hidden");
});

test("OPS-2 all problems of the values are listed at once, and the defaults lack what only the operator knows", async () => {
  const printed = await renderText().catch(({ stderr }: { readonly stderr: string }) => stderr);
  for (const value of ["hosts.dashboard", "hosts.servers", "tls.issuer.name", "gatewayApi.className", "database.url"])
    expect(printed).toContain(value);
  for (const value of ["bucket.address", "bucket.accessKeyId", "image.repository", "serversImage.repository", "dns"])
    expect(printed).toContain(value);
});
