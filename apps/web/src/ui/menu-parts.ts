import type { Menu } from "@base-ui/react/menu";
import type { LucideIcon } from "lucide-react";
import { createContext } from "react";

/** Components of a menu's items, which are loaded with the popup. `Mark`: before the chosen item. */
export type Parts = Pick<typeof Menu, "Item" | "Separator" | "Group" | "GroupLabel" | "RadioGroup" | "RadioItem"> & {
  readonly Mark: LucideIcon;
};

/** Set only within the open menu, where items exist. */
export const MenuParts = createContext<Parts | null>(null);
