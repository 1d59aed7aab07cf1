export { createBucketRequests } from "../bucket-requests.ts";
export { s3Blobs } from "../s3-blobs.ts";
export { artifactStoreContract } from "./contract.ts";
