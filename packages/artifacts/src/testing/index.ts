export { artifactStoreContract } from "./contract.ts";
