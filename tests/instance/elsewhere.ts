import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

/** The address of hosts elsewhere that the instance of end-to-end tests may reach. Tests listen on ports of it. */
export const elsewhere = "127.0.0.77";

/** Makes the certificate of hosts there. Returns settings of an instance that trusts and reaches them. */
export async function elsewhereSettings(directory: string): Promise<Readonly<Record<string, string>>> {
  const { key, certificate } = filesOf(directory);
  await mkdir(directory, { recursive: true });
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const names = ["-subj", "/CN=elsewhere", "-addext", `subjectAltName=IP:${elsewhere}`];
  await promisify(execFile)("openssl", ["req", "-x509", ...curve, ...names, "-keyout", key, "-out", certificate]);
  return { TOWPATH_EXTERNAL_NETWORKS: `${elsewhere}/32`, NODE_EXTRA_CA_CERTS: certificate };
}

/** Paths in PEM. */
export const filesOf = (directory: string) => ({
  key: join(directory, "elsewhere.key"),
  certificate: join(directory, "elsewhere.crt"),
});
