import { useState } from "react";
import { classNames } from "./class-names.ts";

export const initialsOf = (name: string) =>
  name
    .split(/\s+/)
    .slice(0, 2)
    .map((part) => part[0] ?? "")
    .join("")
    .toUpperCase();

type AvatarProps = {
  readonly name: string;
  readonly picture?: string | null;
  readonly shape?: "person" | "organization";
  /** Size and type. */
  readonly className?: string;
};

/**
 * The picture of a person (round) or an organization, or their initials. Next to their name, so that it needs no text of
 * its own.
 */
export function Avatar({ name, picture, shape = "person", className = "size-8 text-2xs" }: AvatarProps) {
  // Removed since, or at an issuer that doesn't answer.
  const [broken, setBroken] = useState<string | null>(null);
  const look = classNames("shrink-0", shape === "person" ? "rounded-full" : "rounded-md", className);
  if (picture && picture !== broken) {
    return (
      <img
        src={picture}
        alt=""
        className={classNames(look, "bg-sunken object-cover")}
        referrerPolicy="no-referrer"
        onError={() => setBroken(picture)}
      />
    );
  }
  return (
    <span
      aria-hidden
      className={classNames(look, "flex items-center justify-center bg-accent-soft font-semibold text-accent-text")}
    >
      {initialsOf(name)}
    </span>
  );
}
