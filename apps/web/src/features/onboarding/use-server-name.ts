import { useQuery } from "@tanstack/react-query";
import { projectNameSchema } from "@towpath/core/project/schema";
import { useEffect, useState } from "react";
import { checkProjectName, proposeServerName } from "./onboarding.functions.ts";

/** Debounce of the availability check, in milliseconds. */
const typingMs = 300;

/** A server name being chosen: its text, what is wrong with it, and another proposal. */
export function useServerName(orgSlug: string, initial: string) {
  const [name, setName] = useState(initial);
  const [settled, setSettled] = useState(initial);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(name), typingMs);
    return () => clearTimeout(timer);
  }, [name]);

  const faulty = projectNameSchema.safeParse(name).error?.issues[0]?.message ?? null;
  const { data } = useQuery({
    queryKey: ["project-name", orgSlug, settled],
    queryFn: ({ signal }) => checkProjectName({ data: { orgSlug, name: settled }, signal }),
    enabled: settled === name && faulty === null,
    staleTime: 10_000,
  });
  const known = settled === name ? data : undefined;
  return {
    name,
    setName,
    problem: faulty ?? (known?.available === false ? known.message : null),
    available: faulty === null && known?.available === true,
    roll: async () => setName((await proposeServerName({ data: { orgSlug } })).name),
  };
}
