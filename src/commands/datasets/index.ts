import type { Declare } from "../../flags/declare.ts";
import { createCommand } from "./create.ts";
import { listCommand } from "./list.ts";

export const commands: readonly Declare[] = [listCommand, createCommand];
