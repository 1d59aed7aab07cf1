export { searchServerRegistry } from "./search-server-registry.ts";
