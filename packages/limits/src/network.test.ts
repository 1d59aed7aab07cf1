import { expect, test } from "vitest";
import { networkOf } from "./index.ts";

test("GW-9 an IPv4 address counts alone, an IPv6 address with its /64, in any notation", () => {
  const same: Record<string, string[]> = {
    "203.0.113.7": ["203.0.113.7", "::ffff:203.0.113.7"],
    "2001:db8:1:2::/64": [
      "2001:db8:1:2::1",
      "2001:0db8:0001:0002:0000:0000:0000:00ff",
      "2001:DB8:1:2:ffff:ffff:ffff:ffff",
      "2001:db8:1:2:3:4:192.0.2.1",
    ],
    "2001:db8:0:0::/64": ["2001:db8::", "2001:db8::1:2:3:4", "2001:db8::5"],
    "fe80:0:0:0::/64": ["fe80::1%eth0", "fe80::2"],
    "0:0:0:0::/64": ["::1", "::"],
    "1:0:0:2::/64": ["1::2:3:4:5:6"],
  };
  for (const [network, addresses] of Object.entries(same)) {
    expect(addresses.map(networkOf)).toEqual(addresses.map(() => network));
  }
});
