import type { RepositoryChange } from "@towpath/core/delivery/build/contract";
import type { HarnessFailure } from "../failure.ts";
import type { InspectedServer } from "../inspect/inspect.ts";
import { normalizeName } from "../source/requirements-file.ts";

/** Whether the repository has the module and an installed package hides it: the candidate is its file. */
export const hidesOwn = ({ candidates }: HarnessFailure): boolean => candidates.length > 0;

/** Where to list a dependency, for a sentence. */
export const dependencyFile = ({ dependencies }: InspectedServer): string => {
  if (dependencies === null) return "the file that lists the dependencies";
  return dependencies.file === null ? "a new requirements.txt" : `\`${dependencies.file}\``;
};

/** The change that lists these requirements; null where the file is unknown, or is a program. */
export function requiring(
  requirements: readonly string[],
  { dependencies }: InspectedServer,
  insteadOf: string | null = null,
): RepositoryChange | null {
  if (dependencies === null) return null;
  const { kind, file } = dependencies;
  // Without a list, the platform installs fastmcp, which a list must name.
  if (kind === "none")
    return { kind: "require", file: "requirements.txt", requirements: ["fastmcp", ...requirements], insteadOf };
  return isList(file) ? { kind: "require", file, requirements: [...requirements], insteadOf } : null;
}

/** Whether a file lists requirements as data. */
export const isList = (file: string | null): file is string => file !== null && !/(^|\/)setup\.(py|cfg)$/.test(file);

/** The change that lists the package of a missing module. */
export function moduleChange(status: HarnessFailure, server: InspectedServer): RepositoryChange | null {
  const name = packageOf(status);
  return hidesOwn(status) || name === "" ? null : requiring([name], server);
}

const packageOf = ({ module }: HarnessFailure): string => {
  const top = module?.split(".")[0] ?? "";
  return packages.get(top.toLowerCase()) ?? normalizeName(top);
};

export function moduleRemedy(status: HarnessFailure, { dependencies }: InspectedServer): string {
  const {
    module,
    candidates: [own],
  } = status;
  const top = module?.split(".")[0] ?? "";
  if (own !== undefined) {
    return `Rename \`${top}\` in the repository (${own}), or no longer require what also installs a package \`${top}\`, and push.`;
  }
  const name = packageOf(status);
  const isSame = name === top.toLowerCase().replaceAll("_", "-");
  const what = isSame ? `\`${name}\`` : `\`${name}\` (the package that provides \`${top}\`)`;
  if (dependencies === null) {
    return `The preview had what it needs, so \`${top}\` is imported with production's variables only: add ${what} to the dependencies, and push.`;
  }
  const { kind, file } = dependencies;
  if (kind === "none") {
    return `Add ${what} to a new requirements.txt (with \`fastmcp\`, which is the only package installed now), and push.`;
  }
  const list = {
    "uv-lock": "to the dependencies in `pyproject.toml`, run `uv lock` and commit uv.lock",
    pyproject: "to the dependencies in `pyproject.toml`",
    script: `to the dependencies in the script block of \`${file}\``,
    requirements: `to \`${file}\``,
    "fastmcp-json": `to \`${file}\``,
  }[kind];
  return `Add ${what} ${list}, and push. If \`${top}\` is a module of your own, check that it is committed and can be imported from the repository's root.`;
}

/** Common modules whose package has another name, lowercase. */
const packages: ReadonlyMap<string, string> = new Map(
  `attr:attrs bs4:beautifulsoup4 cv2:opencv-python-headless dateutil:python-dateutil decouple:python-decouple
  discord:discord-py docx:python-docx dotenv:python-dotenv fitz:pymupdf git:gitpython github:pygithub
  googleapiclient:google-api-python-client jose:python-jose jwt:pyjwt magic:python-magic mysqldb:mysqlclient
  openssl:pyopenssl pil:pillow pptx:python-pptx psycopg2:psycopg2-binary serial:pyserial skimage:scikit-image
  sklearn:scikit-learn slack_sdk:slack-sdk telegram:python-telegram-bot yaml:pyyaml zmq:pyzmq`
    .split(/\s+/)
    .map((entry) => entry.split(":") as [module: string, name: string]),
);
