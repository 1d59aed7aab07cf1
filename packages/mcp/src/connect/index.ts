export { type ClientGuide, placeholderKey } from "./client-guide.ts";
export { accessOf, clientGuides } from "./client-guides.ts";
export { inQuotes, quoted, shellWord } from "./quoting.ts";
