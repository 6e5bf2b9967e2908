import type { Declare } from "../../flags/declare.ts";
import { applyCommand } from "./apply.ts";
import { listCommand } from "./list.ts";
import { planCommand } from "./plan.ts";
import { resolveCommand } from "./resolve.ts";
import { rmCommand } from "./rm.ts";
import { tagCommand } from "./tag.ts";
import { uploadCommand } from "./upload.ts";

export const commands: readonly Declare[] = [
	listCommand,
	tagCommand,
	planCommand,
	applyCommand,
	resolveCommand,
	uploadCommand,
	rmCommand,
];
