export { addDomain, listDomains, removeDomain } from "./change-domains.ts";
export { checkDomain, checkDueDomains } from "./check-domain.ts";
export type { DomainRecordView, DomainView } from "./domain.view.ts";
