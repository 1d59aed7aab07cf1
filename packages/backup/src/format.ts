import { z } from "zod";

// A back-up is one file: a tar, compressed by zstd, encrypted in the age format. So it can also be read without Towpath:
// `age --decrypt FILE | zstd --decompress | tar --list`. Its parts, in this order:
//
//     manifest.json                what follows, and which release made it
//     files/NAME                   of the data directory: the secret of all keys, the operator's token
//     database/TABLE               rows, in PostgreSQL's text format of COPY
//     repositories/ID.json         HEAD and refs, and ID.bundle with the commits
//     data/ID                      what the server of a project keeps in /data, as its driver stores it
//     artifacts/DIGEST             layers of deployments, on request
//     contents.json                size and SHA-256 of each part before it
//
// A tar has the size of an entry before its bytes, which for most parts isn't known while they are read. So a part longer
// than one chunk continues in entries with the suffix `.000002` and so on.

/** Increased when earlier releases can't read what is written. */
export const formatVersion = 1;

const name = z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/);

export const manifestSchema = z.object({
  format: z.literal(formatVersion),
  createdAt: z.iso.datetime(),
  database: z.object({
    release: z.string().nullable(),
    migrations: z.number().int(),
    newestMigration: z.number().int(),
    tables: z.array(z.object({ name, columns: z.array(name).readonly() })).readonly(),
    days: z.array(z.string().regex(/^\d{8}$/)).readonly(),
    sequences: z.array(z.object({ name, last: z.string().regex(/^\d{1,19}$/) })).readonly(),
    bytes: z.number().int(),
  }),
  servers: z.number().int(),
  layers: z.boolean(),
});
export type Manifest = z.infer<typeof manifestSchema>;

/** What a newer format still has. */
export const anyManifestSchema = z.object({
  format: z.number().int(),
  database: z.object({ release: z.string().nullable() }),
});

export const contentsSchema = z.array(
  z.object({ name: z.string(), bytes: z.number().int(), sha256: z.string().length(64) }),
);
export type Contents = z.infer<typeof contentsSchema>;

export const repositorySchema = z.object({ head: z.string(), refs: z.record(z.string(), z.string()) });

/** Files of the data directory by the names of their parts: nothing in a back-up becomes a path. */
export const instanceFiles = {
  "instance.json": "instance.json",
  "operator-token": "operator-token",
  known_hosts: "git/known_hosts",
  "settings.env": "settings.env",
} as const;

export type InstanceFile = keyof typeof instanceFiles;

/** What a part is, by its name. */
export type PartKind =
  | { readonly kind: "file"; readonly file: InstanceFile }
  | { readonly kind: "table"; readonly table: string }
  | { readonly kind: "repository" | "bundle" | "data"; readonly id: string }
  | { readonly kind: "layer"; readonly digest: string };

const named = /^(files|database|repositories|data|artifacts)\/([a-z0-9_.-]{1,80})$/;
const idPart = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const digestPart = /^[0-9a-f]{64}$/;

const isInstanceFile = (file: string): file is InstanceFile => Object.hasOwn(instanceFiles, file);

/** Null for any other name. */
export function kindOfPart(part: string): PartKind | null {
  const [, group, rest = ""] = named.exec(part) ?? [];
  if (group === "files" && isInstanceFile(rest)) return { kind: "file", file: rest };
  if (group === "database" && name.safeParse(rest).success) return { kind: "table", table: rest };
  if (group === "data" && idPart.test(rest)) return { kind: "data", id: rest };
  if (group === "artifacts" && digestPart.test(rest)) return { kind: "layer", digest: rest };
  const [id = "", suffix, ...more] = rest.split(".");
  if (group !== "repositories" || !idPart.test(id) || more.length > 0) return null;
  if (suffix === "json") return { kind: "repository", id };
  return suffix === "bundle" ? { kind: "bundle", id } : null;
}

/** A back-up can't be made, read or restored. The message is for the operator, in whole sentences. */
export class BackupError extends Error {
  override readonly name = "BackupError";
}
