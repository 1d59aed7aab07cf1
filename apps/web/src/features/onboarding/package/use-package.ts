import { useQuery } from "@tanstack/react-query";
import { normalPackageName, packageNameProblem, packageVersionProblem } from "@towpath/core/sources/package/schema";
import { useState } from "react";
import { failureText } from "~/ui/toast.ts";
import { useSettled } from "~/ui/use-settled.ts";
import { packageQuery } from "./package.functions.ts";

/** Pause in typing before the index is asked, milliseconds. */
const typingMs = 400;

/** State of the fields for a package and its version: the input, and the index's answer. */
export function usePackage(orgSlug: string, initial: { readonly name: string; readonly version: string }) {
  const [name, setName] = useState(initial.name);
  const [version, setVersion] = useState(initial.version);
  const settled = useSettled(name, typingMs);
  const normal = packageNameProblem(settled) === null ? normalPackageName(settled) : "";
  const isAsked = settled === name && normal !== "";
  const { data, error, isFetching } = useQuery({ ...packageQuery(orgSlug, normal), enabled: isAsked });
  const found = isAsked ? data : undefined;
  const releases = found?.releases ?? [];
  const newest = releases.find(({ isPrerelease }) => !isPrerelease) ?? releases[0];
  return {
    name,
    setName: (next: string) => {
      setName(next);
      setVersion("");
    },
    version,
    setVersion,
    releases,
    /** Deployed if no version is named. */
    newest: newest?.version ?? null,
    isLooking: isFetching && isAsked,
    problems: {
      packageName: name === "" ? null : (packageNameProblem(name) ?? (isAsked && error ? failureText(error) : null)),
      version: packageVersionProblem(version),
    },
  };
}
