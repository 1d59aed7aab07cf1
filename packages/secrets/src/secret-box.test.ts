import { expect, test } from "vitest";
import { createSecretBox, type DataKey, type SecretBinding, valueBytes } from "./secret-box.ts";

const current = "a root secret for tests, at least 32 characters";
const box = createSecretBox({ current, previous: [] });
const id = (digit: number) => `0192a000-0000-7000-8000-00000000000${digit}`;
const owner = { organizationId: id(1), projectId: id(2) };
const dataKey = box.newDataKey({ ...owner, id: id(3) });
const binding: SecretBinding = {
  ...owner,
  secretId: id(4),
  keyName: "API_KEY",
  version: 1,
  environments: ["production", "preview"],
};
const ciphertext = box.encrypt("pässwörd", dataKey, binding);
const flipped = (text: string, at: number) => text.slice(0, at) + (text[at] === "A" ? "B" : "A") + text.slice(at + 1);

test("KEY-2 a value decrypts with its environments in any order, and never has the same ciphertext twice", () => {
  expect(box.decrypt({ ...binding, ciphertext }, dataKey)).toBe("pässwörd");
  expect(box.decrypt({ ...binding, environments: ["preview", "production"], ciphertext }, dataKey)).toBe("pässwörd");
  expect(box.encrypt("pässwörd", dataKey, binding)).not.toBe(ciphertext);
  expect(ciphertext).toContain(dataKey.id);
  expect(valueBytes(ciphertext)).toBe(Buffer.byteLength("pässwörd"));
});

test.each<[string, Partial<SecretBinding & { ciphertext: string }>]>([
  ["another organization", { organizationId: id(9) }],
  ["another project", { projectId: id(9) }],
  ["another variable of the same name", { secretId: id(9) }],
  ["another name", { keyName: "API_KEY2" }],
  ["another version", { version: 2 }],
  ["fewer environments", { environments: ["production"] }],
  ["a shorter text", { ciphertext: ciphertext.slice(0, -2) }],
  ["a changed nonce", { ciphertext: flipped(ciphertext, 42) }],
  ["a changed value", { ciphertext: flipped(ciphertext, 58) }],
  ["a changed tag", { ciphertext: flipped(ciphertext, ciphertext.length - 20) }],
  ["no text", { ciphertext: "" }],
  ["an unknown data key", { ciphertext: ciphertext.replace(id(3), id(9)) }],
])("KEY-2 a ciphertext that was moved to or is damaged by %s is an error, never an empty value", (_what, change) => {
  expect(() => box.decrypt({ ...binding, ciphertext, ...change }, dataKey)).toThrow(
    /secret API_KEY2? can't be decrypted/,
  );
});

test("KEY-2 a data key opens for its project only, and not when it was changed or has moved", () => {
  const [master = "", sealed = ""] = Object.entries(dataKey.wraps)[0] ?? [];
  const others: (DataKey | null)[] = [
    null,
    { ...dataKey, organizationId: id(9) },
    { ...dataKey, projectId: id(9) },
    { ...dataKey, wraps: { [master]: flipped(sealed, 20) } },
    { ...dataKey, wraps: {} },
    box.newDataKey({ ...owner, id: id(3) }),
  ];
  for (const other of others) expect(() => box.decrypt({ ...binding, ciphertext }, other)).toThrow();
});

test("KEY-2 another master key is an error that names both", () => {
  const wrong = createSecretBox({ current: "another root secret for tests, 32 characters", previous: [] });
  const [stored = ""] = Object.keys(dataKey.wraps);
  const given = wrong.masterKeys.current.id;
  expect(() => wrong.decrypt({ ...binding, ciphertext }, dataKey)).toThrow(`(${stored}, not ${given})`);
  const both = createSecretBox({ current: "another root secret for tests, 32 characters", previous: [current] });
  expect(both.decrypt({ ...binding, ciphertext }, dataKey)).toBe("pässwörd");
});

test("KEY-2 a value encrypted before there were data keys can still be decrypted, and not with another key", () => {
  const earlier = "a root secret for tests, of 32 characters or more";
  const row = {
    ...binding,
    projectId: id(1),
    version: 3,
    ciphertext: "DNoD-0N5.bfDvtwi5c-EwTkjJ.sAr7o1ghmFwGE9e7.YN9eKGILQXTUoKxCWuBu7A",
  };
  expect(createSecretBox({ current, previous: [earlier] }).decrypt(row, null)).toBe("sunny-secret");
  expect(() => box.decrypt(row, null)).toThrow("another key (DNoD-0N5, not");
  expect(() => createSecretBox({ current: earlier, previous: [] }).decrypt({ ...row, version: 4 }, null)).toThrow();
  expect(valueBytes(row.ciphertext)).toBe("sunny-secret".length);
});
