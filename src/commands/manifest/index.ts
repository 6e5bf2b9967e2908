import type { Declare } from "../../flags/declare.ts";
import { checkCommand } from "./check.ts";
import { initCommand } from "./init.ts";

export const commands: readonly Declare[] = [checkCommand, initCommand];
