import type { Declare } from "../declare.ts";
import { listCommand } from "./list.ts";
import { resolveCommand } from "./resolve.ts";
import { rmCommand } from "./rm.ts";
import { tagCommand } from "./tag.ts";
import { uploadCommand } from "./upload.ts";

export const commands: readonly Declare[] = [listCommand, tagCommand, resolveCommand, uploadCommand, rmCommand];
