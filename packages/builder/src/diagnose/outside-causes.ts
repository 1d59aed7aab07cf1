import type { HarnessStatus } from "@towpath/runtime";

type Failed = Extract<HarnessStatus, { state: "failed" }>;
type Text = (status: Failed) => string;

/** Failures whose cause lies outside the server's own code, or in how it is started. */
export const outsideCauses = {
  keyword_removed: {
    title: ({ candidates, module }) =>
      `The installed ${module ?? "framework"} doesn't take the argument ${candidates[0] ?? "that is passed"}`,
    remedy: (status) => keywordRemedy(status),
  },
  /** Two packages: the first needs what the second doesn't have. One: the code needs it. None: it breaks what serves. */
  dependency_mismatch: {
    title: ({ module, candidates: [first, second] }) =>
      first === undefined
        ? `The installed ${module ?? "uvicorn"} keeps the server from being served`
        : second === undefined
          ? `The installed ${first} isn't the one that the code is written for`
          : `${first} doesn't work with the installed ${second}`,
    remedy: ({ module, candidates: [first, second] }) =>
      first === undefined
        ? `Require a newer \`${module ?? "uvicorn"}\`, or loosen the requirement that holds it, or what it needs, at this release: Towpath serves with uvicorn, in the server's own environment.`
        : second === undefined
          ? `Require a release of \`${first}\` that has what the code imports: usually a newer one, or an older one where it was removed.`
          : `Upgrade \`${first}\` to a release that works with it, or require an older \`${second}\` beside it, such as the newest one from the time of your \`${first}\`. A uv.lock keeps versions together that work.`,
  },
  native_library_missing: {
    title: ({ module }) => `The system library ${module ?? "that a package needs"} isn't installed`,
    remedy: ({ module }) => libraryRemedy(module ?? ""),
  },
  program_missing: {
    title: ({ module }) => `The program ${module ?? "that the server runs"} isn't installed`,
    remedy: ({ module }) => programRemedy(module ?? ""),
  },
  host_unreachable: {
    title: ({ module }) => `The server can't reach ${module ?? "a host"} while it starts`,
    remedy: ({ module }) =>
      isLoopback(module ?? "")
        ? onLoopback
        : `Check that ${module ?? "the host"} exists, and that this platform may reach it: the operator decides that. Better, connect or download on the first call: put models and data that are needed at the start into the repository or a package.`,
  },
  read_only: {
    title: () => "The server writes to a read-only place",
    remedy: () =>
      "Write below the home directory (`~`) or the temporary one (`tempfile.gettempdir()`) instead: both are writable, and empty again when the server restarts.",
  },
  arguments_missing: {
    title: () => "The program needs other arguments",
    remedy: ({ candidates }) =>
      candidates.length === 0
        ? "Set under Settings → Build what you would type after its name, such as a subcommand or `--option value`, and rebuild."
        : "Set as arguments under Settings → Build the command that starts the server, with the options that it needs, and rebuild. If none of them does, set the entrypoint there to what does.",
  },
} satisfies Partial<Record<Failed["code"], { readonly title: Text; readonly remedy: Text }>>;

export const isLoopback = (host: string) => /^(?:localhost|127\.[\d.]+|::1|0\.0\.0\.0)$/i.test(host);
const onLoopback =
  "A server here has a `localhost` of its own, on which nothing else runs. Give it the address at which the service can be reached over the internet, by a variable under Settings → Environment variables or an argument under Settings → Build. Better, connect on the first call.";

/** Programs that change the system, which a server here can't do. */
const ofAdministrators = new Set(["sudo", "su", "doas", "apt", "apt-get", "dnf", "yum", "apk", "brew"]);

export const isOfAdministrators = (program: string): boolean => ofAdministrators.has(program.split("/").at(-1) ?? "");

function programRemedy(program: string): string {
  if (isOfAdministrators(program)) {
    return "A server can't change the system here. Switch off that it installs something at its start, if it has a variable or an argument for that, and ask the operator to install on this host what it needs. Or change the code: install nothing at the start.";
  }
  return `Ask the operator to install what contains \`${program || "it"}\` on this host. Or run it when a tool needs it, not at the start: then the other tools work without it.`;
}

const frameworkOf = ({ module }: Failed) => (module === "fastmcp" ? "fastmcp" : "mcp");

/** Major and minor number of the installed release that doesn't take an argument; the newest where it isn't known. */
function installedOf({ candidates: [, installed] }: Failed): readonly [number, number] {
  const [major = Infinity, minor = 0] = installed?.split(".").map(Number) ?? [];
  return [major, minor];
}

/** The last releases that took what the installed one refuses; null where there is no such limit. */
export function olderFramework(status: Failed): string | null {
  const [major] = installedOf(status);
  if (frameworkOf(status) === "fastmcp") return major > 2 ? "fastmcp<3" : null;
  return major > 1 ? "mcp<2" : null;
}

/** Until mcp 1.12 FastMCP took any argument. Those releases don't work with later releases of pydantic. */
export const takesAnyArgument = { day: new Date("2025-07-16T00:00:00Z"), when: "mcp 1.11 was the newest" };

/** Whether that helps. */
export function needsEarlyMcp(status: Failed): boolean {
  const [major, minor] = installedOf(status);
  return status.code === "keyword_removed" && frameworkOf(status) === "mcp" && major === 1 && minor >= 12;
}

function keywordRemedy(status: Failed): string {
  const keyword = `\`${status.candidates[0] ?? "the argument"}\``;
  const older = olderFramework(status);
  const release = `the release of \`${frameworkOf(status)}\` that it was written for`;
  const known = older === null ? release : `\`${older}\``;
  const pin = needsEarlyMcp(status) ? `${release}, such as \`mcp<1.12\` with \`pydantic<2.12\`` : known;
  return `Remove ${keyword} from the call: here, address, path and log level are the platform's. Or require ${pin}.`;
}

/** Debian packages of libraries that Python packages often load. */
const debianPackages: Readonly<Record<string, string>> = {
  "libEGL.so": "libegl1",
  "libGL.so": "libgl1",
  "libSM.so": "libsm6",
  "libXext.so": "libxext6",
  "libXrender.so": "libxrender1",
  "libasound.so": "libasound2",
  "libcairo.so": "libcairo2",
  "libffi.so": "libffi8",
  "libfontconfig.so": "libfontconfig1",
  "libgdk_pixbuf-2.0.so": "libgdk-pixbuf-2.0-0",
  "libglib-2.0.so": "libglib2.0-0",
  "libgobject-2.0-0": "libglib2.0-0",
  "libgobject-2.0.so": "libglib2.0-0",
  "libgomp.so": "libgomp1",
  "libgthread-2.0.so": "libglib2.0-0",
  "libhdf5.so": "libhdf5-103-1",
  "libldap-2.5.so": "libldap-2.5-0",
  "libmagic.so": "libmagic1",
  "libmariadb.so": "libmariadb3",
  "libmysqlclient.so": "libmariadb3",
  "libnss3.so": "libnss3",
  "libodbc.so": "unixodbc",
  "libopenblas.so": "libopenblas0",
  "libpango-1.0-0": "libpango-1.0-0",
  "libpango-1.0.so": "libpango-1.0-0",
  "libpangocairo-1.0.so": "libpangocairo-1.0-0",
  "libpcap.so": "libpcap0.8",
  "libportaudio.so": "libportaudio2",
  "libpq.so": "libpq5",
  "libproj.so": "libproj25",
  "libsndfile.so": "libsndfile1",
  "libspatialindex.so": "libspatialindex6",
  "libtesseract.so": "libtesseract5",
  "libusb-1.0.so": "libusb-1.0-0",
  "libxml2.so": "libxml2",
  "libxmlsec1.so": "libxmlsec1",
  "libxslt.so": "libxslt1.1",
  "libzbar.so": "libzbar0",
};

function libraryRemedy(library: string): string {
  const known = debianPackages[library.replace(/\.so[.\d]*$/, ".so")] ?? debianPackages[library];
  const name =
    known === undefined
      ? "the Debian package that contains it (`apt-file search` finds it)"
      : `the Debian package \`${known}\``;
  return `Ask the operator to install ${name} on this host. Or require a variant that brings its libraries along, such as opencv-python-headless or psycopg[binary].`;
}
