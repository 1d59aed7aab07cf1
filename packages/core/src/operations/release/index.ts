export { getRelease } from "./get-release.ts";
