export { type Actor, type Context, type Role, roles } from "./context.ts";
