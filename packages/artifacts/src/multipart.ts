import { createHash } from "node:crypto";
import { type BucketRequests, contentOf, retried, textOf } from "./bucket-requests.ts";
import { ArtifactError } from "./port.ts";

/**
 * Larger files are sent in parts of this size, the last one smaller. 10,000 parts, the most there may be, are 160 GB. Node's
 * fetch holds a body that it reads faster than it sends, so this is also what an upload takes of memory.
 */
export const partBytes = 16 * 1024 * 1024;

/** For one part: a connection that carries less than 55 KB a second counts as stuck. */
const partMs = 300_000;
const pausesMs = [500, 2000, 8000];

type Upload = { readonly key: string; readonly id: string };

/**
 * Stores a file in parts, of which nothing is seen until all are there. The signature of each contains its digest, so the
 * service refuses other bytes, and a part that failed is sent again alone. What no service checks is checked here: the
 * digest of the whole, as it was read for the parts, and the stored size. After a failure the upload is aborted.
 *
 * @param digest lower-case hex SHA-256 of the whole
 * @throws ArtifactError `unavailable`; `digest_mismatch` when the file changed
 */
export async function putInParts(requests: BucketRequests, key: string, file: Blob, digest: string): Promise<void> {
  const upload = await begin(requests, key);
  try {
    const tags = await sendParts(requests, upload, file, digest);
    await complete(requests, upload, tags);
    const stored = await requests.askShortly("HEAD", requests.url(key));
    const size = Number(stored.headers.get("content-length"));
    if (size !== file.size) throw requests.problem("POST", `it stored ${size} of ${file.size} bytes`);
  } catch (error) {
    await abort(requests, upload).catch(() => {});
    throw error;
  }
}

async function begin(requests: BucketRequests, key: string): Promise<Upload> {
  const begun = await requests.askShortly("POST", requests.url(key, { uploads: "" }));
  if (!begun.ok) throw requests.problem("POST", "the bucket doesn't exist");
  const id = textOf(await begun.text(), "UploadId")[0];
  if (id === undefined) throw requests.problem("POST", "it named no upload");
  return { key, id };
}

/** The parts' entity tags, in their order. */
async function sendParts(requests: BucketRequests, { key, id }: Upload, file: Blob, digest: string): Promise<string[]> {
  const whole = createHash("sha256");
  const tags: string[] = [];
  for (let start = 0; start < file.size; start += partBytes) {
    const body = file.slice(start, start + partBytes);
    const hash = createHash("sha256");
    for await (const chunk of body.stream()) for (const each of [hash, whole]) each.update(chunk);
    const headers = { "x-amz-content-sha256": hash.digest("hex") };
    const url = requests.url(key, { partNumber: String(tags.length + 1), uploadId: id });
    const sent = await retried(pausesMs, async () => {
      const response = await requests.ask("PUT", url, { body, headers, signal: AbortSignal.timeout(partMs) });
      if (!response.ok) throw new ArtifactError("unavailable", "The upload of an artifact was ended by somebody else.");
      return response;
    });
    tags.push(sent.headers.get("etag") ?? "");
  }
  if (whole.digest("hex") === digest) return tags;
  throw new ArtifactError("digest_mismatch", `The file of artifact ${digest} changed while it was sent.`);
}

async function complete(requests: BucketRequests, { key, id }: Upload, tags: readonly string[]): Promise<void> {
  const parts = tags.map(
    (tag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${tag.replaceAll('"', "&quot;")}</ETag></Part>`,
  );
  const body = `<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`;
  const headers = { "x-amz-content-sha256": createHash("sha256").update(body).digest("hex") };
  await retried(pausesMs, async () => {
    // Putting large objects together may take a service minutes.
    const signal = AbortSignal.timeout(partMs);
    const response = await requests.ask("POST", requests.url(key, { uploadId: id }), { body, headers, signal });
    // Gone: completed by an earlier attempt whose answer was lost. The caller looks at what is stored.
    if (!response.ok) return;
    // An answer that took long has begun with 200 before the failure.
    const reason = textOf(await response.text(), "Code")[0];
    if (reason !== undefined) throw requests.problem("POST", reason);
  });
}

const abort = (requests: BucketRequests, { key, id }: Upload) =>
  requests.askShortly("DELETE", requests.url(key, { uploadId: id }));

/** Uploads below a prefix that were begun before a time and neither completed nor aborted. */
async function* unfinished(requests: BucketRequests, prefix: string, before: Date): AsyncIterable<Upload> {
  for (let from: Readonly<Record<string, string>> = {}; ; ) {
    const response = await requests.askShortly("GET", requests.url("", { uploads: "", prefix, ...from }));
    if (!response.ok) return;
    const page = await response.text();
    for (const upload of contentOf(page, "Upload")) {
      const [key, id, begunAt] = ["Key", "UploadId", "Initiated"].map((name) => textOf(upload, name)[0] ?? "");
      if (key && id && Date.parse(begunAt ?? "") < before.getTime()) yield { key, id };
    }
    const [keyMarker, idMarker] = ["NextKeyMarker", "NextUploadIdMarker"].map((name) => textOf(page, name)[0] ?? "");
    if (textOf(page, "IsTruncated")[0] !== "true" || !keyMarker) return;
    from = { "key-marker": keyMarker, "upload-id-marker": idMarker ?? "" };
  }
}

/**
 * Aborts the uploads that killed processes left below a prefix, begun before a time; until then their parts are stored and
 * paid for. Resolves to their number. `isOurs`: by the rest of their keys.
 */
export async function abortUnfinished(
  requests: BucketRequests,
  { prefix, before, isOurs }: { readonly prefix: string; readonly before: Date; isOurs(name: string): boolean },
): Promise<number> {
  let aborted = 0;
  for await (const upload of unfinished(requests, prefix, before)) {
    if (!isOurs(upload.key.slice(prefix.length))) continue;
    await abort(requests, upload);
    aborted += 1;
  }
  return aborted;
}
