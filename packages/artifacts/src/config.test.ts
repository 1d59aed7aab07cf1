import { expect, test } from "vitest";
import { artifactsConfigSchema } from "./config.ts";

const keys = { TOWPATH_ARTIFACTS_ACCESS_KEY_ID: "id", TOWPATH_ARTIFACTS_SECRET_ACCESS_KEY: "secret" };
const credentials = { accessKeyId: "id", secretAccessKey: "secret" };

test("OPS-13 artifacts are in a directory unless the settings name a bucket", () => {
  expect(artifactsConfigSchema.parse({})).toBeNull();
  expect(artifactsConfigSchema.parse({ TOWPATH_ARTIFACTS: "directory", ...keys })).toBeNull();
  expect(artifactsConfigSchema.parse({ TOWPATH_ARTIFACTS: "s3://acme", ...keys })).toEqual({
    url: "https://acme.s3.us-east-1.amazonaws.com",
    prefix: "",
    region: "us-east-1",
    ...credentials,
  });
  const ownService = {
    TOWPATH_ARTIFACTS: "s3://acme.example/towpath/one/",
    TOWPATH_ARTIFACTS_ENDPOINT: "https://minio.example.com",
    TOWPATH_ARTIFACTS_REGION: "here",
  };
  expect(artifactsConfigSchema.parse({ ...ownService, ...keys })).toEqual({
    url: "https://minio.example.com/acme.example",
    prefix: "towpath/one/",
    region: "here",
    ...credentials,
  });
  const hosted = { ...ownService, ...keys, TOWPATH_ARTIFACTS_PATH_STYLE: "no" };
  expect(artifactsConfigSchema.parse(hosted)).toMatchObject({ url: "https://acme.example.minio.example.com" });
});

const problemsOf = (settings: Readonly<Record<string, string>>) =>
  artifactsConfigSchema.safeParse(settings).error?.issues.map(({ path, message }) => `${path} ${message}`);

test("OPS-13 all problems of the settings of artifacts are listed at once", () => {
  const wrong = {
    TOWPATH_ARTIFACTS: "s3://",
    TOWPATH_ARTIFACTS_ENDPOINT: "minio.example.com",
    TOWPATH_ARTIFACTS_PATH_STYLE: "maybe",
  };
  expect(problemsOf(wrong)).toEqual([
    expect.stringMatching(/^TOWPATH_ARTIFACTS must be directory, or s3:/),
    "TOWPATH_ARTIFACTS_ENDPOINT must be an http or https URL",
    "TOWPATH_ARTIFACTS_PATH_STYLE must be yes or no",
  ]);
  expect(problemsOf({ TOWPATH_ARTIFACTS: "s3://acme", TOWPATH_ARTIFACTS_ACCESS_KEY_ID: "" })).toEqual(
    Object.keys(keys).map((key) => `${key} is missing, and TOWPATH_ARTIFACTS names a bucket`),
  );
});
