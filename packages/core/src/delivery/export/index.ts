export { exportServer, type ServerExport } from "./export-server.ts";
