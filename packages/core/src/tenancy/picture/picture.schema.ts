import { z } from "zod";

/** Pictures are squares of this many pixels; the browser makes them. */
export const pictureSize = 256;

/** Of the file, in bytes. */
export const pictureMaxBytes = 100_000;

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The bytes of a picture in base64; null removes it. */
export const pictureSchema = z.object({
  picture: z
    .string()
    .min(1, { error: "Choose a picture", abort: true })
    .max(Math.ceil(pictureMaxBytes / 3) * 4, { error: "The picture is too large: at most 100 kB", abort: true })
    .regex(base64, "The picture is not complete. Choose it again")
    .nullable(),
});

/** As it stands in the address of a picture: SHA-256, base64url without padding. */
export const pictureHashSchema = z.object({ hash: z.string().regex(/^[\w-]{43}$/) });
