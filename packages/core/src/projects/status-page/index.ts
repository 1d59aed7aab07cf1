export { describeStatusPage, setStatusPage } from "./set-status-page.ts";
export { getStatusPage } from "./status-page.ts";
