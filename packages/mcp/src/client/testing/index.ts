export { type Talker, talker } from "./talking-servers.ts";
