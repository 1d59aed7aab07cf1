// Prints what the image contains, as CycloneDX 1.5 in JSON: the packages that npm installed, Debian's packages, and the
// programs that are neither. (`npm sbom` refuses a tree without the development packages of workspaces.)
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

type Package = { readonly version?: string; readonly integrity?: string; readonly license?: string };

const root = join(import.meta.dirname, "..");
const read = (path: string) => JSON.parse(readFileSync(join(root, path), "utf8"));
const output = (file: string, ...args: readonly string[]) => execFileSync(file, args, { encoding: "utf8" }).trim();

const component = (type: string, name: string, version: string, more: object = {}) => ({
  type: "library",
  name,
  version,
  purl: `pkg:${type}/${name.replace("@", "%40")}@${encodeURIComponent(version)}`,
  ...more,
});

/** Such as `sha512-…` in base64. */
function hashesOf(integrity: string) {
  const [algorithm = "", digest = ""] = integrity.split("-");
  return [{ alg: algorithm.replace("sha", "SHA-"), content: Buffer.from(digest, "base64").toString("hex") }];
}

// npm's own record of what is installed. Our packages, which are links, have no version there.
const installed: Readonly<Record<string, Package>> = read("node_modules/.package-lock.json").packages;
const npm = Object.entries(installed).flatMap(([path, { version, integrity, license }]) => {
  const name = path.split("node_modules/").at(-1);
  if (!path.includes("node_modules/") || name === undefined || version === undefined) return [];
  const hashes = integrity === undefined ? {} : { hashes: hashesOf(integrity) };
  return [
    component("npm", name, version, { ...hashes, ...(license && { licenses: [{ license: { name: license } }] }) }),
  ];
});

const debian = output("dpkg-query", "--show")
  .split("\n")
  .map((line) => {
    const [name = "", version = ""] = line.split("\t");
    return component("deb/debian", name.replace(/:.*$/, ""), version);
  });

const uv = output("uv", "--version").split(" ")[1] ?? "";
const { name, version } = read("package.json");
const bill = {
  bomFormat: "CycloneDX",
  specVersion: "1.5",
  version: 1,
  metadata: { component: { type: "application", name, version } },
  components: [...npm, ...debian, component("pypi", "uv", uv), component("generic", "node", process.versions.node)],
};
process.stdout.write(`${JSON.stringify(bill)}\n`);
