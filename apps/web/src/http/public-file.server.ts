/** A file that is the same for everybody and that caches may keep for `maxAgeSeconds`, by default five minutes. */
export function publicFile(
  body: string | Uint8Array<ArrayBuffer>,
  contentType: string,
  { maxAgeSeconds = 300 }: { readonly maxAgeSeconds?: number } = {},
): Response {
  return new Response(body, {
    headers: { "content-type": contentType, "cache-control": `public, max-age=${maxAgeSeconds}` },
  });
}
