export { isReservedName, isReservedSlug, projectPathName } from "./reserved-names.ts";
