import { fileURLToPath } from "node:url";

/** Path of the checkout that this command runs from. */
export const repositoryRoot = fileURLToPath(new URL("../../../", import.meta.url));
