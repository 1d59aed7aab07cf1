// A classic BPF program for bubblewrap's --seccomp. It denies calls that servers don't need and that kernel exploits
// start with. It is a deny list: everything else is allowed, so that ordinary Python packages work.

const auditArchitecture: Readonly<Record<string, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };

type Numbers = readonly [x64: number | null, arm64: number | null];

/** System call numbers; null: the architecture has no such call. Names as in the kernel's tables. */
const denied: Readonly<Record<string, Numbers>> = {
  ptrace: [101, 117],
  syslog: [103, 116],
  modify_ldt: [154, null],
  pivot_root: [155, 41],
  adjtimex: [159, 171],
  chroot: [161, 51],
  acct: [163, 89],
  settimeofday: [164, 170],
  mount: [165, 40],
  umount2: [166, 39],
  swapon: [167, 224],
  swapoff: [168, 225],
  reboot: [169, 142],
  init_module: [175, 105],
  delete_module: [176, 106],
  quotactl: [179, 60],
  clock_settime: [227, 112],
  kexec_load: [246, 104],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  perf_event_open: [298, 241],
  fanotify_init: [300, 262],
  open_by_handle_at: [304, 265],
  clock_adjtime: [305, 266],
  setns: [308, 268],
  finit_module: [313, 273],
  kexec_file_load: [320, 294],
  bpf: [321, 280],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  quotactl_fd: [443, 443],
  open_tree_attr: [467, 467],
};
const columns: Readonly<Record<string, number>> = { x64: 0, arm64: 1 };

/**
 * Can allocate any amount of disk at once, before the disk watch sees it. It fails as on a file system that doesn't
 * support it; the C library then writes instead.
 */
const fallocate: Readonly<Record<string, number>> = { x64: 285, arm64: 47 };

/** Calls that are filtered by their arguments: those that create namespaces or sockets. */
type Inspected = "clone" | "unshare" | "clone3" | "socket" | "socketpair";
const inspected: Readonly<Record<string, Readonly<Record<Inspected, number>>>> = {
  x64: { clone: 56, unshare: 272, clone3: 435, socket: 41, socketpair: 53 },
  arm64: { clone: 220, unshare: 97, clone3: 435, socket: 198, socketpair: 199 },
};

const cloneNewUser = 0x10000000;
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. All but users take a capability, which forks' parents have. */
const newNamespaces = 0x7e020000;
/** CLONE_NEWTIME, which is no flag of clone. */
const newTime = 0x80;
/** AF_UNIX, AF_INET, AF_INET6. Every other family is kernel code that servers never need. */
const openFamilies = [1, 2, 10];
const netlinkFamily = 16;
/** The only netlink protocol that getaddrinfo and getifaddrs use. */
const netlinkRoute = 0;
const x32Bit = 0x40000000;
const load = 0x20; // BPF_LD | BPF_W | BPF_ABS
const jumpEqual = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const jumpSet = 0x45; // BPF_JMP | BPF_JSET | BPF_K
const giveBack = 0x06; // BPF_RET | BPF_K
const allow = 0x7fff0000;
const killProcess = 0x80000000;
const errno = (code: number) => 0x00050000 | code;
const notPermitted = errno(1);
const notImplemented = errno(38);
const notSupported = errno(95);
const familyNotSupported = errno(97);
const offsetOfNumber = 0;
const offsetOfArchitecture = 4;
/** The lower half of an argument: all that the kernel reads of an int. */
const offsetOfArgument = (index: number) => 16 + index * 8;

type Instruction = readonly [code: number, jumpTrue: number, jumpFalse: number, value: number];

/**
 * The filter for an architecture of Node's `process.arch`, or null when we have no table for it (the self-test then
 * reports the missing protection). `allowed`: calls of the table that it lets through, by their names. clone3 fails with ENOSYS because its flags are behind a pointer that a filter can't
 * read; the C library then uses clone.
 */
export function seccompFilter(architecture: string, allowed: readonly string[] = []): Uint8Array | null {
  const arch = auditArchitecture[architecture];
  const column = columns[architecture];
  const special = inspected[architecture];
  const reserve = fallocate[architecture];
  if (arch === undefined || column === undefined || special === undefined || reserve === undefined) return null;
  const program: Instruction[] = [
    [load, 0, 0, offsetOfArchitecture],
    [jumpEqual, 1, 0, arch],
    [giveBack, 0, 0, killProcess],
    [load, 0, 0, offsetOfNumber],
  ];
  if (architecture === "x64") program.push([jumpSet, 0, 1, x32Bit], [giveBack, 0, 0, notPermitted]);
  const blocked = Object.entries(denied).filter(([name]) => !allowed.includes(name));
  const calls = blocked.flatMap(([, numbers]) => numbers[column] ?? []);
  for (const call of calls) program.push([jumpEqual, 0, 1, call], [giveBack, 0, 0, notPermitted]);
  program.push([jumpEqual, 0, 1, reserve], [giveBack, 0, 0, notSupported]);
  program.push([jumpEqual, 0, 1, special.clone3], [giveBack, 0, 0, notImplemented]);
  for (const [call, flags] of [
    [special.clone, newNamespaces],
    [special.unshare, newNamespaces | newTime],
  ] as const) {
    program.push(
      [jumpEqual, 0, 4, call],
      [load, 0, 0, offsetOfArgument(0)],
      [jumpSet, 0, 1, flags],
      [giveBack, 0, 0, notPermitted],
      [giveBack, 0, 0, allow],
    );
  }
  for (const call of [special.socket, special.socketpair]) program.push(...socketRule(call));
  program.push([giveBack, 0, 0, allow]);
  return encode(program);
}

/** Filters by family, and netlink by protocol; skipped for every other call. */
function socketRule(call: number): Instruction[] {
  const decision: Instruction[] = [
    [load, 0, 0, offsetOfArgument(0)],
    ...openFamilies.flatMap((family): Instruction[] => [
      [jumpEqual, 0, 1, family],
      [giveBack, 0, 0, allow],
    ]),
    [jumpEqual, 0, 3, netlinkFamily],
    [load, 0, 0, offsetOfArgument(2)],
    [jumpEqual, 0, 1, netlinkRoute],
    [giveBack, 0, 0, allow],
    [giveBack, 0, 0, familyNotSupported],
  ];
  return [[jumpEqual, 0, decision.length, call], ...decision];
}

/** A rule of the OCI runtime specification: these calls fail with `errnoRet`, with `args` only if one of them has the flag. */
type OciRule = {
  readonly names: readonly string[];
  readonly action: "SCMP_ACT_ERRNO";
  readonly errnoRet: number;
  readonly args?: readonly {
    readonly index: number;
    readonly value: number;
    readonly valueTwo: number;
    readonly op: string;
  }[];
};

/** The same for gVisor's kernel, where no family of sockets is code of the host: calls by name, as OCI has it. */
export function ociSeccomp(): { readonly defaultAction: "SCMP_ACT_ALLOW"; readonly syscalls: readonly OciRule[] } {
  const refuse = (names: readonly string[], errnoRet: number) =>
    ({ names, action: "SCMP_ACT_ERRNO", errnoRet }) as const;
  const newUser = { index: 0, value: cloneNewUser, valueTwo: cloneNewUser, op: "SCMP_CMP_MASKED_EQ" };
  return {
    defaultAction: "SCMP_ACT_ALLOW",
    syscalls: [
      refuse(Object.keys(denied), 1),
      refuse(["fallocate"], 95),
      { ...refuse(["clone", "unshare"], 1), args: [newUser] },
    ],
  };
}

/** struct sock_filter { u16 code; u8 jt; u8 jf; u32 k; } in the byte order of both architectures. */
function encode(program: readonly Instruction[]): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(program.length * 8));
  program.forEach(([code, jumpTrue, jumpFalse, value], index) => {
    bytes.setUint16(index * 8, code, true);
    bytes.setUint8(index * 8 + 2, jumpTrue);
    bytes.setUint8(index * 8 + 3, jumpFalse);
    bytes.setUint32(index * 8 + 4, value, true);
  });
  return new Uint8Array(bytes.buffer);
}
