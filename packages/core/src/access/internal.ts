export { restrictsCallers } from "./access.store.ts";
