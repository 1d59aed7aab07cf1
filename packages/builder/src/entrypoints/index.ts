export { findOffers, projectDirectories, skippedDirectories } from "./offers.ts";
