import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const openssl = async (directory: string, ...args: readonly string[]) =>
  promisify(execFile)("openssl", args, { cwd: directory });

export type Certificates = {
  /** Path of a file of the authority, of a certificate's `NAME.crt` and `NAME.key`, or of the key of service accounts. */
  readonly path: (file: string) => string;
  /** Writes a kubeconfig for the certificate of that name, and resolves to its path. */
  kubeconfig(name: string, server: string): Promise<string>;
};

const subjects = {
  admin: "/O=system:masters/CN=admin",
  "controller-manager": "/CN=system:kube-controller-manager",
  scheduler: "/CN=system:kube-scheduler",
  proxy: "/CN=system:kube-proxy",
} as const;

/** Makes the authority and the certificates of a cluster: of its API server, and of each node, by the node's name. */
export async function createCertificates(
  directory: string,
  nodes: readonly { readonly name: string; readonly address: string }[],
  addresses: readonly string[],
): Promise<Certificates> {
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30"];
  await openssl(
    directory,
    "req",
    "-x509",
    ...curve,
    "-subj",
    "/CN=towpath-test-cluster",
    "-keyout",
    "ca.key",
    "-out",
    "ca.crt",
  );
  const sign = (name: string, subject: string, names?: string) =>
    openssl(
      directory,
      "req",
      "-x509",
      ...curve,
      "-CA",
      "ca.crt",
      "-CAkey",
      "ca.key",
      "-subj",
      subject,
      ...(names === undefined ? [] : ["-addext", `subjectAltName=${names}`]),
      "-addext",
      "basicConstraints=critical,CA:FALSE",
      "-keyout",
      `${name}.key`,
      "-out",
      `${name}.crt`,
    );
  const ips = addresses.map((address) => `IP:${address}`).join(",");
  await Promise.all([
    sign("apiserver", "/CN=kube-apiserver", `DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,${ips}`),
    ...nodes.map(({ name, address }) =>
      sign(name, `/O=system:nodes/CN=system:node:${name}`, `DNS:${name},IP:${address}`),
    ),
    ...Object.entries(subjects).map(([name, subject]) => sign(name, subject)),
    openssl(directory, "genpkey", "-algorithm", "RSA", "-out", "service-accounts.key").then(() =>
      openssl(directory, "pkey", "-in", "service-accounts.key", "-pubout", "-out", "service-accounts.pub"),
    ),
  ]);
  const path = (file: string) => join(directory, file);
  const base64 = async (file: string) => (await readFile(path(file))).toString("base64");
  return {
    path,
    kubeconfig: async (name, server) => {
      const [authority, certificate, key] = await Promise.all([
        base64("ca.crt"),
        base64(`${name}.crt`),
        base64(`${name}.key`),
      ]);
      const config = {
        apiVersion: "v1",
        kind: "Config",
        clusters: [{ name: "test", cluster: { server, "certificate-authority-data": authority } }],
        users: [{ name, user: { "client-certificate-data": certificate, "client-key-data": key } }],
        contexts: [{ name: "test", context: { cluster: "test", user: name } }],
        "current-context": "test",
      };
      await writeFile(path(`${name}.kubeconfig`), JSON.stringify(config), { mode: 0o600 });
      return path(`${name}.kubeconfig`);
    },
  };
}
