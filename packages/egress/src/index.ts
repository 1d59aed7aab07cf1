export { fetchDocument } from "./fetch-document.ts";
