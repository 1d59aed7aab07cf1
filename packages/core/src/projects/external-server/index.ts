export { checkDueExternalServers, checkExternalServer } from "./check-external-server.ts";
export { createExternalServer } from "./create-external-server.ts";
export type { ExternalServerView } from "./external-server.view.ts";
export { getExternalServer } from "./get-external-server.ts";
export { reachExternalServer } from "./reach-external-server.ts";
export { updateExternalServer } from "./update-external-server.ts";
