import cyrillic from "@fontsource-variable/geist/files/geist-cyrillic-wght-normal.woff2?inline";
import latinExtended from "@fontsource-variable/geist/files/geist-latin-ext-wght-normal.woff2?inline";
import latin from "@fontsource-variable/geist/files/geist-latin-wght-normal.woff2?inline";
import { type SocialCard, SocialCardImage } from "./social-card.tsx";

/** Images kept in memory: about 40 kB each. */
const maxKept = 100;
/** Maximum of waiting images. They are drawn one at a time, in about 100 ms of a core. */
const maxWaiting = 16;

const kept = new Map<string, Uint8Array<ArrayBuffer>>();
const underWay = new Map<string, Promise<Uint8Array<ArrayBuffer>>>();
let last: Promise<unknown> = Promise.resolve();

/** A card as a PNG image of 1200 × 630; null while too many others wait. The same card is drawn once. */
export async function renderCard(card: SocialCard): Promise<Uint8Array<ArrayBuffer> | null> {
  const key = JSON.stringify(card);
  const found = kept.get(key) ?? underWay.get(key);
  if (found) return found;
  if (underWay.size >= maxWaiting) return null;
  const drawing = last.then(() => draw(card));
  last = drawing.catch(() => {});
  underWay.set(key, drawing);
  try {
    const image = await drawing;
    const oldest = kept.size >= maxKept ? kept.keys().next().value : undefined;
    if (oldest !== undefined) kept.delete(oldest);
    kept.set(key, image);
    return image;
  } finally {
    underWay.delete(key);
  }
}

async function draw(card: SocialCard): Promise<Uint8Array<ArrayBuffer>> {
  // Loaded on demand, as loading this native library would delay the start of the process.
  const { render } = await import("takumi-js");
  const image = await render(<SocialCardImage {...card} />, {
    width: 1200,
    height: 630,
    format: "png",
    fonts: fonts(),
    // The default fetches drawings from a content network.
    emoji: "from-font",
  });
  return new Uint8Array(image);
}

const fonts = () =>
  [latin, latinExtended, cyrillic].map((url) => ({
    name: "Geist",
    data: Buffer.from(url.slice(url.indexOf(",") + 1), "base64"),
  }));
