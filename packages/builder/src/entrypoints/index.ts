export { findOffers, projectDirectories } from "./offers.ts";
