export { requireUsableInstallation } from "./installation.store.ts";
