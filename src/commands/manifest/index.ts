import type { Declare } from "../declare.ts";
import { checkCommand } from "./check.ts";
import { initCommand } from "./init.ts";

export const commands: readonly Declare[] = [checkCommand, initCommand];
