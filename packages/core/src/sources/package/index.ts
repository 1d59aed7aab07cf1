export { readPackage } from "./read-package.ts";
