import type { VolumeEntry } from "../../port/builds.ts";

const maxPartBytes = 256 * 1024;

/** Entries for the service of a build pod: see `write_entries` in python/towpath_pod/volumes.py. */
export async function* entryFrames(
  entries: Iterable<VolumeEntry> | AsyncIterable<VolumeEntry>,
): AsyncGenerator<Uint8Array> {
  for await (const entry of entries) {
    const { content, ...header } = { content: null, ...entry };
    yield frame(Buffer.from(JSON.stringify(header)));
    if (content === null) continue;
    if (typeof content === "string") yield* parts(Buffer.from(content));
    else for await (const chunk of content) yield* parts(chunk);
    yield frame(new Uint8Array());
  }
}

/** None is empty: that would end the content. */
function* parts(content: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < content.length; at += maxPartBytes) yield frame(content.subarray(at, at + maxPartBytes));
}

function frame(content: Uint8Array): Uint8Array {
  const framed = Buffer.allocUnsafe(4 + content.length);
  framed.writeUInt32BE(content.length);
  framed.set(content, 4);
  return framed;
}
