export { type Manifest, manifestSchema } from "./manifest.ts";
