export { hashedRouteLabel, type LabeledBranch, mcpUrl, routeLabel, serverUrl } from "./server-url.ts";
