import type { Declare } from "../index.ts";
import { createCommand } from "./create.ts";
import { listCommand } from "./list.ts";

export const commands: readonly Declare[] = [listCommand, createCommand];
