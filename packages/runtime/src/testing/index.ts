export { createFakeDriver } from "./fake-driver.ts";
export { shortDirectory } from "./short-directory.ts";
export { tinyServer } from "./tiny-server.ts";
