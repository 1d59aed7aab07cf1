import { pictureMaxBytes, pictureSize } from "@towpath/core/picture/schema";

/** What can be chosen. SVG isn't among them: it can run scripts. */
export const pictureTypes = "image/png,image/jpeg,image/webp,image/gif,image/avif";

/** Larger files would take long to read, and are no portraits. */
const maxFileBytes = 25_000_000;

/**
 * The middle of a picture as a square of 256 × 256 pixels, in base64. Drawn anew, so that nothing of the file but its
 * pixels is sent: no place where it was taken, no camera.
 *
 * @throws Error whose message says what is wrong with the file
 */
export async function scaledPicture(file: File): Promise<string> {
  if (file.size > maxFileBytes) throw new Error("This file is larger than 25 MB. Choose a smaller one.");
  const image = await createImageBitmap(file).catch(() => {
    throw new Error("Your browser can't read this file as a picture. Choose a PNG, JPEG or WebP.");
  });
  const canvas = document.createElement("canvas");
  canvas.width = pictureSize;
  canvas.height = pictureSize;
  const side = Math.min(image.width, image.height);
  const context = canvas.getContext("2d");
  if (!context) throw new Error("Your browser can't scale pictures.");
  context.imageSmoothingQuality = "high";
  const [left, top] = [(image.width - side) / 2, (image.height - side) / 2];
  context.drawImage(image, left, top, side, side, 0, 0, pictureSize, pictureSize);
  image.close();
  // Browsers that don't write WebP give a PNG, which of a photograph can be too large: a JPEG isn't.
  for (const type of ["image/webp", "image/jpeg"]) {
    const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, type, 0.9));
    if (blob && blob.size <= pictureMaxBytes) return base64Of(blob);
  }
  throw new Error("This picture can't be made small enough. Choose another one.");
}

async function base64Of(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}
