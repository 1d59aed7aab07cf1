export { checkExport } from "./check-export.ts";
export { fileNames, variablesFileOf } from "./file-names.ts";
export { unpackExport } from "./unpack-export.ts";
export { writeExport } from "./write-export.ts";
