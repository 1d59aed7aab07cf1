import { expect, test } from "vitest";
import { parseOtlpEndpoint, parseOtlpHeaders } from "./otlp-settings.ts";

test("OPS-1 the collector's settings are checked, and a wrong header is not repeated", () => {
  expect(parseOtlpEndpoint("")).toBeNull();
  expect(parseOtlpEndpoint("https://otel.example/base/")?.href).toBe("https://otel.example/base/v1/traces");
  expect(() => parseOtlpEndpoint("localhost:4318")).toThrow("base URL");
  expect(parseOtlpHeaders("Authorization=Bearer%20x, x-a=b")).toEqual({ authorization: "Bearer x", "x-a": "b" });
  for (const wrong of ["s3cret", "=s3cret", "a=%zzs3cret", "a=s3cret%0d%0ab"]) {
    expect(() => parseOtlpHeaders(wrong)).toThrow(/^(?!.*s3cret)/);
  }
});
