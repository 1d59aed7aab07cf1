export { requestedPython } from "../plan/python-version.ts";
export { findOffers, projectDirectories, skippedDirectories } from "./offers.ts";
