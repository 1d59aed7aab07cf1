import type { Menu } from "@base-ui/react/menu";
import type { LucideIcon } from "lucide-react";
import { createContext } from "react";

/** What the items of a menu are made of: it comes with the popup. `Mark` is before what is chosen. */
export type Parts = Pick<typeof Menu, "Item" | "Separator" | "Group" | "GroupLabel" | "RadioGroup" | "RadioItem"> & {
  readonly Mark: LucideIcon;
};

/** Of the menu that is open: its items exist only there. */
export const MenuParts = createContext<Parts | null>(null);
