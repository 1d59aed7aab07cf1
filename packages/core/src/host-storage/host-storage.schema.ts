import { z } from "zod";

const bytes = z.number().int().min(0);

/** What a worker reports about the disk of its host. All sizes in bytes. */
export const storageReportSchema = z.object({
  totalBytes: bytes,
  freeBytes: bytes,
  /** What Towpath may still use: the free space, or what is left of its budget when that is less. */
  availableBytes: bytes,
  /** Below this no build starts. */
  reserveBytes: bytes,
  low: z.boolean(),
  /** What the folders of the data directory hold, by name; measured every few minutes. */
  kinds: z.record(z.string(), bytes),
});

export type StorageReport = z.infer<typeof storageReportSchema>;
