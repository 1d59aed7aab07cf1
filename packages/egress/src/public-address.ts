import { isIP } from "node:net";
import { isListed, networkList } from "./networks.ts";

const blocked = networkList([
  // IPv4 addresses that aren't globally reachable (IANA special-purpose registry), and multicast.
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
  // Global unicast addresses that are special, or embed an IPv4 address, which would have to be checked.
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "3fff::/20",
]);
const globalUnicast = networkList(["2000::/3"]);
const loopback = networkList(["127.0.0.0/8", "::1/128"]);

/** Whether an IP address is on the public internet: not private, loopback, link-local, reserved or multicast. */
export const isPublicAddress = (address: string): boolean =>
  (isIP(address) === 4 || isListed(globalUnicast, address)) && !isListed(blocked, address);

export const isLoopbackAddress = (address: string): boolean => isListed(loopback, address);
