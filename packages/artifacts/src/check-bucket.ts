import {
  BucketRefusal,
  type BucketRequests,
  contentOf,
  createBucketRequests,
  retried,
  textOf,
} from "./bucket-requests.ts";
import type { BucketConfig } from "./config.ts";

/** Two halves of a sentence, without a full stop. */
type BucketProblem = { readonly what: string; readonly remedy: string };

export type BucketReport = {
  /** Without these, artifacts can't be kept there. */
  readonly problems: readonly BucketProblem[];
  /** What will cost storage, or artifacts, later. */
  readonly warnings: readonly BucketProblem[];
};

/** The same each time, so that a key that may not delete leaves one object. */
const probe = "towpath-check";

/**
 * Tries each right that the key of a bucket needs, with an object of its own, and reads the bucket's lifecycle rules
 * where the key may. Safe to call from several processes at the same time.
 *
 * @throws ArtifactError `unavailable` when the service doesn't answer, has no such bucket or doesn't know the key
 */
export async function checkBucket(config: BucketConfig): Promise<BucketReport> {
  const requests = createBucketRequests(config, "artifact store");
  const { prefix } = config;
  const object = requests.url(`${prefix}${probe}`);
  const found = { problems: [] as BucketProblem[], warnings: [] as BucketProblem[] };

  /** Null: the key may not. */
  async function attempt(
    kind: keyof BucketReport,
    right: Right,
    ...request: Parameters<BucketRequests["ask"]>
  ): Promise<Response | null> {
    try {
      return await retried([500], () => requests.askShortly(...request));
    } catch (error) {
      if (!(error instanceof BucketRefusal)) throw error;
      // A HEAD request's refusal has no reason.
      if (error.status === 403 && ["AccessDenied", "Forbidden", ""].includes(error.reason)) {
        found[kind].push(missing(right));
        return null;
      }
      // Not every service has what is only useful.
      if (kind === "warnings" && error.status !== null) return null;
      throw error;
    }
  }

  const listed = await attempt(
    "problems",
    "list",
    "GET",
    requests.url("", { "list-type": "2", prefix, "max-keys": "1" }),
  );
  if (listed?.status === 404) throw requests.problem("GET", "the bucket doesn't exist");
  const put = await attempt("problems", "put", "PUT", object, { body: probe });
  // A service tells those who may not list that they may not get what isn't there.
  if (put !== null || listed !== null) await attempt("problems", "get", "GET", object);
  await attempt("problems", "delete", "DELETE", object);
  await checkUploads();
  found.warnings.push(...(await endangering()));
  return found;

  /** Large artifacts are sent in parts; those that are never completed have to be found and ended. */
  async function checkUploads(): Promise<void> {
    await attempt("warnings", "listUploads", "GET", requests.url("", { uploads: "", prefix, "max-uploads": "1" }));
    const begun = await attempt("warnings", "put", "POST", requests.url(`${prefix}${probe}`, { uploads: "" }));
    const uploadId = textOf((await begun?.text()) ?? "", "UploadId")[0];
    if (uploadId !== undefined)
      await attempt("warnings", "abort", "DELETE", requests.url(`${prefix}${probe}`, { uploadId }));
  }

  async function endangering(): Promise<BucketProblem[]> {
    // Without rules it is 404; whether the key may read them doesn't matter.
    const answer = await requests.askShortly("GET", requests.url("", { lifecycle: "" })).catch(() => null);
    if (!answer?.ok) return [];
    return contentOf(await answer.text(), "Rule").flatMap((rule) => dangerOf(rule, prefix) ?? []);
  }
}

const rights = {
  list: ["list the bucket", "s3:ListBucket"],
  put: ["put objects", "s3:PutObject"],
  get: ["get objects", "s3:GetObject"],
  delete: ["delete objects", "s3:DeleteObject"],
  abort: ["abort uploads in parts, so failed ones are stored and paid for", "s3:AbortMultipartUpload"],
  listUploads: ["list uploads in parts, so those of killed processes stay", "s3:ListBucketMultipartUploads"],
} as const;
type Right = keyof typeof rights;

function missing(right: Right): BucketProblem {
  const [what, action] = rights[right];
  const remedy = `allow ${action} to the key TOWPATH_ARTIFACTS_ACCESS_KEY_ID, in the policy of its user or of the bucket`;
  return { what: `the key may not ${what}`, remedy };
}

/** What a lifecycle rule does to artifacts, whose keys are hexadecimal digits below a prefix; null: nothing. */
function dangerOf(rule: string, prefix: string): BucketProblem | null {
  const named = textOf(rule, "Prefix")[0] ?? "";
  const concerns =
    prefix.startsWith(named) || (named.startsWith(prefix) && /^[0-9a-f]*$/.test(named.slice(prefix.length)));
  // Artifacts have no tags.
  if (textOf(rule, "Status")[0] !== "Enabled" || !concerns || rule.includes("<Tag>")) return null;
  const expires = contentOf(rule, "Expiration").some((each) => /<(Days|Date)>/.test(each));
  const archives = contentOf(rule, "Transition").some((each) => /GLACIER<|DEEP_ARCHIVE/.test(each));
  if (!expires && !archives) return null;
  const id = textOf(rule, "ID")[0] ?? "without a name";
  const does = expires ? "deletes" : "archives";
  return {
    what: `the bucket's lifecycle rule ${JSON.stringify(id)} ${does} artifacts, also those that are needed`,
    remedy: "limit it to other prefixes than that of TOWPATH_ARTIFACTS; Towpath itself deletes what nothing needs",
  };
}
