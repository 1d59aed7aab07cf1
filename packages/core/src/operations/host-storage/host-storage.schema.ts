import { z } from "zod";

/** A size of a disk or a part of it: bytes, or a share from 0 to 1. */
export type DiskSize =
  | { readonly kind: "bytes"; readonly bytes: number }
  | { readonly kind: "share"; readonly part: number };

/** `20G` (binary units K, M, G, T) or a share of the disk like `80%`. */
export const diskSizeSchema = z
  .string()
  .regex(/^\d{1,15}(\.\d{1,3})?[KMGT%]?$/, "must be a size like 20G or a share of the disk like 80%")
  .transform((text): DiskSize => {
    const unit = text.at(-1) ?? "";
    const value = Number.parseFloat(text);
    if (unit === "%") return { kind: "share", part: Math.min(value, 100) / 100 };
    return { kind: "bytes", bytes: Math.floor(value * 1024 ** ("KMGT".indexOf(unit) + 1)) };
  });

/** With less free space than this, no build starts, unless a setting names another. */
export const standardReserve: DiskSize = { kind: "bytes", bytes: 2 * 1024 ** 3 };

export const bytesOf = (size: DiskSize, totalBytes: number): number =>
  size.kind === "bytes" ? size.bytes : Math.floor(size.part * totalBytes);
