import { expect, test } from "vitest";
import { seccompFilter } from "./seccomp.ts";

const allow = "allow";
const architectures = {
  x64: { audit: 0xc000003e, socket: 41, socketpair: 53, clone: 56, clone3: 435, read: 0, keyctl: 250, fallocate: 285 },
  arm64: {
    audit: 0xc00000b7,
    socket: 198,
    socketpair: 199,
    clone: 220,
    clone3: 435,
    read: 63,
    keyctl: 219,
    fallocate: 47,
  },
};

/** The kernel's decision: an interpreter of the four instructions that the filter uses. */
function decide(program: Uint8Array, call: { audit: number; number: number; arguments?: readonly bigint[] }): string {
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, call.number, true);
  data.setUint32(4, call.audit, true);
  (call.arguments ?? []).forEach((value, index) => {
    data.setBigUint64(16 + index * 8, value, true);
  });
  const code = new DataView(program.buffer);
  let accumulator = 0;
  for (let line = 0; line * 8 < program.length; line += 1) {
    const [operation, value] = [code.getUint16(line * 8, true), code.getUint32(line * 8 + 4, true)];
    const jump = (taken: boolean) => code.getUint8(line * 8 + (taken ? 2 : 3));
    if (operation === 0x20) accumulator = data.getUint32(value, true);
    else if (operation === 0x15) line += jump(accumulator === value);
    else if (operation === 0x45) line += jump((accumulator & value) !== 0);
    else if (operation === 0x06) return name(value);
    else throw new Error(`unknown instruction ${operation}`);
  }
  throw new Error("the program ends without a decision");
}

function name(value: number): string {
  if (value === 0x7fff0000) return allow;
  if (value === 0x80000000) return "kill";
  return `errno ${value & 0xffff}`;
}

test.each(Object.entries(architectures))("RUN-1 the system call filter on %s", (architecture, numbers) => {
  const program = seccompFilter(architecture) ?? new Uint8Array();
  const { audit } = numbers;
  const call = (number: number, ...values: (number | bigint)[]) =>
    decide(program, { audit, number, arguments: values.map(BigInt) });
  expect(call(numbers.read)).toBe(allow);
  expect(call(numbers.keyctl)).toBe("errno 1");
  expect(call(numbers.fallocate)).toBe("errno 95");
  expect(call(numbers.clone, 0x11)).toBe(allow);
  expect(call(numbers.clone, 0x10000011)).toBe("errno 1");
  expect(call(numbers.clone3)).toBe("errno 38");
  expect(decide(program, { audit: 0x40000003, number: numbers.read })).toBe("kill");
  // unix, inet, inet6, and netlink for routes
  for (const family of [1, 2, 10]) expect(call(numbers.socket, family, 1, 6)).toBe(allow);
  expect(call(numbers.socket, 16, 3, 0)).toBe(allow);
  expect(call(numbers.socketpair, 1, 1, 0)).toBe(allow);
  // The kernel reads 32 bits of a family: what is above them must not hide one.
  expect(call(numbers.socket, 0x1_0000_0028n, 1, 0)).toBe("errno 97");
  for (const protocol of [4, 9, 12, 15, 16]) expect(call(numbers.socket, 16, 3, protocol)).toBe("errno 97");
  const others = Array.from({ length: 64 }, (_, family) => family).filter((each) => ![1, 2, 10, 16].includes(each));
  for (const family of others) {
    expect(call(numbers.socket, family, 1, 0)).toBe("errno 97");
    expect(call(numbers.socketpair, family, 1, 0)).toBe("errno 97");
  }
});

test("RUN-1 the x32 calls of x64 are refused, and an unknown architecture has no filter", () => {
  const program = seccompFilter("x64") ?? new Uint8Array();
  expect(decide(program, { audit: 0xc000003e, number: 0x40000000 + 41, arguments: [1n] })).toBe("errno 1");
  expect(seccompFilter("riscv64")).toBeNull();
});
