export { instanceOrganization } from "./organization.store.ts";
