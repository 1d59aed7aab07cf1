export { requestedPython } from "./plan/choose-python.ts";
export { findOffers, projectDirectories, skippedDirectories } from "./source/find-offers.ts";
