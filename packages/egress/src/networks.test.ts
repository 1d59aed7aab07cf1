import { expect, test } from "vitest";
import { isListed, networkList, parseNetworks } from "./networks.ts";

test("OPS-1 GW-9 a list has addresses and networks of both families; anything else is named in the error", () => {
  const list = networkList(parseNetworks(" 10.0.0.1 ,192.168.0.0/16,fd00::/8,"));
  const listed = ["10.0.0.1", "192.168.7.7", "::ffff:10.0.0.1", "fd12::1"];
  const others = ["10.0.0.2", "192.169.0.1", "::ffff:10.0.0.2", "fe80::1", "", "name"];
  expect([...listed, ...others].filter((address) => isListed(list, address))).toEqual(listed);
  expect(isListed(networkList(parseNetworks("0.0.0.0/0")), "203.0.113.7")).toBe(true);
  for (const wrong of ["proxy.example", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/8/8", "10.0.0.0/8x", "10.0.0", "::/129"])
    expect(() => parseNetworks(`10.0.0.1,${wrong}`), wrong).toThrow(`"${wrong}" is neither`);
});
