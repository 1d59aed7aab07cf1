import { expect, test } from "vitest";
import { originOf } from "./target.ts";

test("OPS-4 a key goes over TLS or stays on this machine: other addresses are refused, with what to do", () => {
  for (const [address, origin] of [
    ["towpath.example.com", "https://towpath.example.com"],
    ["https://towpath.example.com/acme/servers", "https://towpath.example.com"],
    ["http://localhost:3000", "http://localhost:3000"],
    ["http://weather.localhost:8080", "http://weather.localhost:8080"],
    ["http://127.0.0.1:3000", "http://127.0.0.1:3000"],
    ["http://127.1:3000", "http://127.0.0.1:3000"],
    ["http://[::1]:3000", "http://[::1]:3000"],
  ] as const) {
    expect(originOf(address)).toBe(origin);
  }
  for (const address of [
    "http://towpath.example.com",
    "http://10.0.0.5:3000",
    "http://127.example.com",
    "http://127.0.0.1.example.com",
    "http://localhost.example.com",
    "http://[::2]:3000",
  ]) {
    expect(() => originOf(address), address).toThrow(/has no TLS.*Use https:\/\/.*ssh -N -L/);
  }
  expect(() => originOf("https://ada:secret@example.com")).toThrow("must not contain a name or password");
});
