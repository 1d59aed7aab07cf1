import { PlainButton } from "~/ui/button.tsx";
import { TextField } from "~/ui/field.tsx";
import { Spinner } from "~/ui/loading.tsx";
import type { usePackage } from "./use-package.ts";

/** So many versions are offered as buttons; others can be typed. */
const shownVersions = 6;

type PackageFieldsProps = {
  readonly chosen: ReturnType<typeof usePackage>;
  /** The server's errors, by field. */
  readonly refused: Readonly<Record<string, string>>;
  readonly disabled?: boolean;
  /** Whether the package can't be changed, only its version. */
  readonly isFixed?: boolean;
};

/** Fields for a package and its version, with the newest versions to choose from. */
export function PackageFields({ chosen, refused, disabled = false, isFixed = false }: PackageFieldsProps) {
  const { name, setName, version, setVersion, releases, newest, isLooking, problems } = chosen;
  const typed = { autoComplete: "off", autoCapitalize: "none", spellCheck: false } as const;
  return (
    <div className="grid gap-3 sm:grid-cols-[minmax(0,1fr)_12rem]">
      <TextField
        label="Package"
        required={!isFixed}
        error={problems.packageName ?? refused.packageName}
        hint={newest === null ? "Its name on the package index." : `The newest version is ${newest}.`}
        {...typed}
        mono
        className="h-10 text-sm"
        placeholder="mcp-server-time"
        value={name}
        disabled={disabled}
        readOnly={isFixed}
        onChange={setName}
        trailing={isLooking ? <Spinner className="size-4 text-faint" /> : null}
      />
      <TextField
        label="Version"
        optional
        error={problems.version ?? refused.version}
        hint="Else the newest."
        {...typed}
        mono
        className="h-10 text-sm"
        placeholder={newest ?? ""}
        value={version}
        disabled={disabled}
        onChange={setVersion}
      />
      {releases.length > 1 ? (
        <ul aria-label="Versions" className="flex flex-wrap gap-1.5 sm:col-span-2">
          {releases.slice(0, shownVersions).map((release) => (
            <li key={release.version}>
              <PlainButton
                aria-pressed={version === release.version}
                onClick={() => setVersion(version === release.version ? "" : release.version)}
                className="rounded-full border px-2.5 py-0.5 font-mono text-xs text-muted transition-colors hover:bg-hover hover:text-ink aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:text-accent-text"
              >
                {release.version}
              </PlainButton>
            </li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}
