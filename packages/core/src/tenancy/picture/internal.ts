export { readImage } from "./image-bytes.ts";
