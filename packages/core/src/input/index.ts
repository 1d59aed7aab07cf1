export { isId, parseInput, requireConfirmation } from "./parse-input.ts";
