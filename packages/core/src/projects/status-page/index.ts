export { describeStatusPage, type StatusPageView, setStatusPage } from "./set-status-page.ts";
export { getStatusPage, type PublicStatus } from "./status-page.ts";
