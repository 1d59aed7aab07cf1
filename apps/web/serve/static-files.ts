import { createReadStream } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join, relative, sep } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".json": "application/json",
  ".map": "application/json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".txt": "text/plain; charset=utf-8",
  ".webmanifest": "application/manifest+json",
  ".woff2": "font/woff2",
};
const compressible = /^(text\/|application\/(json|manifest)|image\/svg)/;

type File = { readonly path: string; readonly type: string; readonly size: number; readonly immutable: boolean };

/** Answers a request when it is for a file of the browser build; false when it is not. */
export type StaticFiles = (request: IncomingMessage, response: ServerResponse) => Promise<boolean>;

/**
 * Serves the browser build. The list of files is read once: what is not on it is not served, so no path can lead out
 * of the folder. Names with a content hash are cached for a year, others are asked for again each time.
 */
export async function staticFiles(folder: string): Promise<StaticFiles> {
  const files = await listFiles(folder);
  const compressed = new Map<string, Promise<Buffer>>();
  return async (request, response) => {
    if (request.method !== "GET" && request.method !== "HEAD") return false;
    const file = files.get((request.url ?? "/").split("?", 1)[0] ?? "/");
    if (!file) return false;
    response.setHeader("content-type", file.type);
    response.setHeader("x-content-type-options", "nosniff");
    response.setHeader("cache-control", file.immutable ? "public, max-age=31536000, immutable" : "no-cache");
    const encoding = compressible.test(file.type) ? acceptedEncoding(request) : null;
    if (compressible.test(file.type)) response.setHeader("vary", "accept-encoding");
    if (!encoding) {
      response.setHeader("content-length", file.size);
      if (request.method === "HEAD") response.end();
      else
        createReadStream(file.path)
          .on("error", () => response.destroy())
          .pipe(response);
      return true;
    }
    const body = await compress(file, encoding, compressed);
    response.setHeader("content-encoding", encoding);
    response.setHeader("content-length", body.length);
    response.end(request.method === "HEAD" ? undefined : body);
    return true;
  };
}

async function listFiles(folder: string): Promise<ReadonlyMap<string, File>> {
  const files = new Map<string, File>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const url = `/${relative(folder, path).split(sep).map(encodeURIComponent).join("/")}`;
    files.set(url, {
      path,
      type: types[extname(path)] ?? "application/octet-stream",
      size: (await stat(path)).size,
      immutable: url.startsWith("/assets/"),
    });
  }
  return files;
}

type Encoding = "br" | "gzip";

function acceptedEncoding(request: IncomingMessage): Encoding | null {
  const accepted = String(request.headers["accept-encoding"] ?? "");
  if (/\bbr\b/.test(accepted)) return "br";
  return /\bgzip\b/.test(accepted) ? "gzip" : null;
}

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);

/** Compressed once, at the first request, and kept: the browser build is some hundred kilobytes. */
function compress(file: File, encoding: Encoding, kept: Map<string, Promise<Buffer>>): Promise<Buffer> {
  const key = `${encoding} ${file.path}`;
  const known = kept.get(key);
  if (known) return known;
  const made = readFile(file.path).then((content) =>
    encoding === "br"
      ? brotli(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 8 } })
      : zip(content, { level: 8 }),
  );
  kept.set(key, made);
  made.catch(() => kept.delete(key));
  return made;
}
