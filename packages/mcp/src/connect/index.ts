export { accessOf, clientGuides } from "./client-guides.ts";
export { type ClientGuide, placeholderKey } from "./guide-types.ts";
export { inQuotes, quoted, shellWord } from "./quoting.ts";
