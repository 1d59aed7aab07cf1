import { createHash, randomBytes } from "node:crypto";
import { access, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { getCACertificates } from "node:tls";

let known: { readonly name: string; readonly text: string } | undefined;

/**
 * A file with the certificate authorities that this process trusts, for git: a host is trusted by both or by neither.
 * Written once into `directory`, where processes with the same authorities share it.
 */
export async function authoritiesFile(directory: string): Promise<string> {
  known ??= read();
  const path = join(directory, known.name);
  try {
    await access(path);
  } catch {
    const partial = `${path}.${randomBytes(6).toString("hex")}`;
    await writeFile(partial, known.text);
    await rename(partial, path);
  }
  return path;
}

function read() {
  const text = `${[...new Set(getCACertificates("default"))].join("\n")}\n`;
  return { name: `authorities-${createHash("sha256").update(text).digest("hex").slice(0, 16)}.pem`, text };
}
