import { Link } from "@tanstack/react-router";
import { argumentsText } from "@towpath/core/projects/project/schema";
import type { EntryPackage, RegistryEntry } from "@towpath/core/sources/server-registry/schema";
import { Globe, Package } from "lucide-react";
import { buttonLook } from "~/ui/button.tsx";

/** A server of a registry, with its actions: deploy its package, or add it by its URL. */
export function EntryCard({ orgSlug, entry }: { readonly orgSlug: string; readonly entry: RegistryEntry }) {
  const { name, title, description, version, packages, urls } = entry;
  return (
    <article aria-label={name} className="flex flex-wrap items-start gap-x-4 gap-y-2 px-4 py-3">
      <div className="min-w-0 flex-1 basis-64">
        <h2 className="text-sm font-semibold">{title}</h2>
        <p className="font-mono text-xs break-all text-muted">{title === name ? version : `${name} ${version}`}</p>
        {description && <p className="mt-1 text-sm text-muted">{description}</p>}
        {packages.length === 0 && urls.length === 0 ? <p className="mt-1 text-sm">{whyNot(entry)}</p> : null}
      </div>
      <div className="flex max-w-full flex-wrap gap-2">
        {packages.map((each) => (
          <Link
            key={`${each.name} ${each.version}`}
            to="/$orgSlug/servers/package"
            params={{ orgSlug }}
            search={packageSearch(each)}
            className={buttonLook({ size: "sm" })}
          >
            <Package />
            Deploy {each.name}
          </Link>
        ))}
        {urls.map((url) => (
          <Link
            key={url}
            to="/$orgSlug/servers/external"
            params={{ orgSlug }}
            search={{ url }}
            className={buttonLook({ size: "sm" })}
          >
            <Globe />
            Add {new URL(url).host}
          </Link>
        ))}
      </div>
    </article>
  );
}

/** Search parameters that fill in the form of a package. */
const packageSearch = ({ name, version, arguments: argv, variables }: EntryPackage) => ({
  name,
  ...(version !== null && { version }),
  ...(argv.length > 0 && { arguments: argumentsText(argv) }),
  ...(variables.length > 0 && { envVariables: variables.map((variable) => variable.name) }),
});

function whyNot({ otherKinds }: RegistryEntry): string {
  if (otherKinds.length === 0) return "Its entry names neither a package nor an address.";
  return `It comes as ${otherKinds.join(" and ")}. Towpath runs Python packages of the package index.`;
}
