import { classNames } from "./class-names.ts";

const initials = (name: string) =>
  name
    .split(/\s+/)
    .slice(0, 2)
    .map((part) => part[0] ?? "")
    .join("")
    .toUpperCase();

/** A person's picture, or their initials. Next to their name, so that it needs no text of its own. */
export function Avatar({ name, picture, className }: { name: string; picture?: string | null; className?: string }) {
  const look = classNames("size-8 shrink-0 rounded-full", className);
  if (picture)
    return <img src={picture} alt="" className={classNames(look, "object-cover")} referrerPolicy="no-referrer" />;
  return (
    <span
      aria-hidden
      className={classNames(
        look,
        "flex items-center justify-center bg-accent-soft text-2xs font-semibold text-accent-text",
      )}
    >
      {initials(name)}
    </span>
  );
}
