import { z } from "zod";

/** A bucket of an S3-compatible service. */
export type BucketConfig = {
  /** Without a slash at its end. */
  readonly url: string;
  /** In front of each digest; empty, or ends with a slash. */
  readonly prefix: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
};

/** Null: a directory of the data directory. */
export type ArtifactsConfig = BucketConfig | null;

const keys = ["TOWPATH_ARTIFACTS_ACCESS_KEY_ID", "TOWPATH_ARTIFACTS_SECRET_ACCESS_KEY"] as const;

/** `s3://BUCKET/PREFIX` */
export const bucketAddressPattern = /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[\w.-]+)*\/?$/;

/** The service of the instance's buckets, and the key for it. */
export const bucketServiceSettings = {
  TOWPATH_ARTIFACTS_ENDPOINT: z.url({ protocol: /^https?$/, error: "must be an http or https URL" }).optional(),
  TOWPATH_ARTIFACTS_REGION: z.string().min(1).default("us-east-1"),
  TOWPATH_ARTIFACTS_PATH_STYLE: z.enum(["yes", "no"], { error: "must be yes or no" }).optional(),
  TOWPATH_ARTIFACTS_ACCESS_KEY_ID: z.string().optional(),
  TOWPATH_ARTIFACTS_SECRET_ACCESS_KEY: z.string().optional(),
} as const;

/** A bucket of this service. `address` matches `bucketAddressPattern`. */
export function bucketFrom(address: string, values: z.output<z.ZodObject<typeof bucketServiceSettings>>): BucketConfig {
  const { host: bucket, pathname } = new URL(address);
  const prefix = pathname.split("/").filter(Boolean).join("/");
  const { TOWPATH_ARTIFACTS_REGION: region, TOWPATH_ARTIFACTS_ENDPOINT: endpoint } = values;
  const { protocol, host, origin } = new URL(endpoint ?? `https://s3.${region}.amazonaws.com`);
  const pathStyle = values.TOWPATH_ARTIFACTS_PATH_STYLE ?? (endpoint === undefined ? "no" : "yes");
  return {
    url: pathStyle === "yes" ? `${origin}/${bucket}` : `${protocol}//${bucket}.${host}`,
    prefix: prefix === "" ? "" : `${prefix}/`,
    region,
    accessKeyId: values.TOWPATH_ARTIFACTS_ACCESS_KEY_ID ?? "",
    secretAccessKey: values.TOWPATH_ARTIFACTS_SECRET_ACCESS_KEY ?? "",
  };
}

/** Where artifacts are stored, the same for web, worker and runner. */
export const artifactsConfigSchema = z
  .object({
    TOWPATH_ARTIFACTS: z
      .string()
      .refine(
        (text) => text === "directory" || bucketAddressPattern.test(text),
        "must be directory, or s3://BUCKET/PREFIX with letters, digits, dots, hyphens and underscores",
      )
      .default("directory"),
    ...bucketServiceSettings,
  })
  .superRefine((values, problems) => {
    if (values.TOWPATH_ARTIFACTS === "directory") return;
    for (const key of keys.filter((each) => !values[each]))
      problems.addIssue({ code: "custom", path: [key], message: "is missing, and TOWPATH_ARTIFACTS names a bucket" });
  })
  .transform(
    (values): ArtifactsConfig =>
      values.TOWPATH_ARTIFACTS === "directory" ? null : bucketFrom(values.TOWPATH_ARTIFACTS, values),
  );
