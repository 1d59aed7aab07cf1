export { mcpUrl, routeLabel, serverUrl } from "./server-url.ts";
