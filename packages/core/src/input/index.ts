export { isId, parseInput } from "./parse-input.ts";
