import type { Declare } from "../../flags/declare.ts";
import { blameCommand } from "./blame.ts";
import { resumeRunCommand, retryCommand } from "./resume.ts";
import { listCommand } from "./list.ts";
import { pruneCommand } from "./prune.ts";
import { repairCommand } from "./repair.ts";
import { reportCommand } from "./report.ts";
import { showCommand } from "./show.ts";
import { undoCommand } from "./undo.ts";
import { verifyCommand } from "./verify.ts";

export const commands: readonly Declare[] = [
	listCommand,
	showCommand,
	resumeRunCommand,
	retryCommand,
	undoCommand,
	verifyCommand,
	blameCommand,
	reportCommand,
	repairCommand,
	pruneCommand,
];
