export { type AddressPolicy, createAddressPolicy, parseNetworks } from "./address-policy.ts";
export { checkedLookup, checkServerUrl, connectFailure, type ResolveName } from "./checked-connection.ts";
export { type CheckedFetch, createCheckedFetch } from "./checked-fetch.ts";
export { EgressError, privateNetworkRemedy } from "./egress-error.ts";
export { fetchDocument } from "./fetch-document.ts";
