export { type AddressPolicy, createAddressPolicy } from "./address-policy.ts";
export { checkedLookup, checkServerUrl, connectFailure, type ResolveName } from "./checked-connection.ts";
export { type CheckedFetch, createCheckedFetch } from "./checked-fetch.ts";
export { dnsSettings, externalNetworkSettings, networksSetting } from "./config.ts";
export { createDomainNames } from "./domain-names.ts";
export { EgressError, privateNetworkRemedy } from "./egress-error.ts";
export { fetchDocument } from "./fetch-document.ts";
export { isListed, networkList } from "./networks.ts";
export { isLoopbackAddress } from "./public-address.ts";
