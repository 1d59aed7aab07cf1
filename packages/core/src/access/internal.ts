export { readPolicy, restrictsCallers } from "./access.store.ts";
