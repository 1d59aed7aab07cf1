import { type BucketConfig, bucketAddressPattern, bucketFrom, bucketServiceSettings } from "@towpath/artifacts";
import { isPublicKey } from "@towpath/crypto/file";
import { z } from "zod";

/** Where scheduled back-ups go: a directory, or a bucket. */
export type BackupPlaceConfig =
  | { readonly kind: "directory"; readonly path: string }
  | { readonly kind: "bucket"; readonly bucket: BucketConfig };

/** Null: none are made. */
export type BackupSchedule = {
  readonly place: BackupPlaceConfig;
  readonly publicKeys: readonly string[];
  readonly everyHours: number;
  /** How many are kept. */
  readonly keep: number;
} | null;

const keys = ["TOWPATH_ARTIFACTS_ACCESS_KEY_ID", "TOWPATH_ARTIFACTS_SECRET_ACCESS_KEY"] as const;
const listOf = (text: string) => text.split(",").map((each) => each.trim());

/** Settings of the worker for back-ups that it makes by itself. */
export const backupScheduleSchema = z
  .object({
    TOWPATH_BACKUP_TO: z
      .string()
      .refine(
        (text) => text === "" || text.startsWith("/") || bucketAddressPattern.test(text),
        "must be an absolute path, or s3://BUCKET/PREFIX",
      )
      .default(""),
    TOWPATH_BACKUP_RECIPIENTS: z.string().default(""),
    TOWPATH_BACKUP_EVERY_HOURS: z.coerce.number().int().min(1).max(8760).default(24),
    TOWPATH_BACKUP_KEEP: z.coerce.number().int().min(1).max(10_000).default(7),
    ...bucketServiceSettings,
  })
  .superRefine((values, problems) => {
    if (values.TOWPATH_BACKUP_TO === "") return;
    if (!listOf(values.TOWPATH_BACKUP_RECIPIENTS).every(isPublicKey)) {
      // Doesn't repeat it: it may be a private key.
      const message =
        values.TOWPATH_BACKUP_RECIPIENTS === ""
          ? "is missing, and TOWPATH_BACKUP_TO is set"
          : "must be public keys of age (age1…), separated by commas";
      problems.addIssue({ code: "custom", path: ["TOWPATH_BACKUP_RECIPIENTS"], message });
    }
    if (!bucketAddressPattern.test(values.TOWPATH_BACKUP_TO)) return;
    for (const key of keys.filter((each) => !values[each]))
      problems.addIssue({ code: "custom", path: [key], message: "is missing, and TOWPATH_BACKUP_TO names a bucket" });
  })
  .transform((values): BackupSchedule => {
    const { TOWPATH_BACKUP_TO: address } = values;
    if (address === "") return null;
    return {
      place: address.startsWith("/")
        ? { kind: "directory", path: address }
        : { kind: "bucket", bucket: bucketFrom(address, values) },
      publicKeys: listOf(values.TOWPATH_BACKUP_RECIPIENTS),
      everyHours: values.TOWPATH_BACKUP_EVERY_HOURS,
      keep: values.TOWPATH_BACKUP_KEEP,
    };
  });
