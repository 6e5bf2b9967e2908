import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { CliError, Exit } from "../../errors.ts";
import type { PlanCounts, PlanHeader, PlannedChange } from "../../plan/plan-file/lines.ts";
import { PlanText } from "../../plan/plan-file/encode.ts";
import { MAX_LINE_BYTES } from "../../run/journal/record-line.ts";
import { VERSION } from "../../version.ts";
import type { Run } from "../open-run.ts";
import { openOut } from "../outputs/out-file.ts";

/** The path of a plan: `--out`, or one in a temporary folder, which removes it in the end. */
export async function pathOfPlan({ app, settings }: Pick<Run, "app" | "settings">, out?: string): Promise<string> {
	return out ?? join(await app.temporaryFolder(settings), `ragtag-plan-${randomBytes(8).toString("hex")}`);
}

export type PlanWriter = Awaited<ReturnType<typeof openPlanWriter>>;

/**
 * Writes a plan to the file of `--out`. Disposing of it removes an incomplete one.
 *
 * @throws CliError exit 2 where no file can be created there
 */
export async function openPlanWriter(out: string, force: boolean, header: Omit<PlanHeader, "ragtag" | "created">) {
	const file = await openOut(out, force);
	const text = new PlanText();
	let head = text.header({ ...header, ragtag: VERSION, created: new Date().toISOString() });
	const append = async (line: string): Promise<void> => {
		await file.append(head + line);
		head = "";
	};
	return {
		async change(planned: PlannedChange): Promise<void> {
			const line = text.change(planned);
			if (Buffer.byteLength(line) > MAX_LINE_BYTES) {
				const why = `the change of document ${planned.documentId} is too long for a plan: more than ${MAX_LINE_BYTES} bytes`;
				throw new CliError(why, { exit: Exit.output, hint: "Leave its row out, and send it with docs tag." });
			}
			await append(line);
		},
		/** Completes the plan and renames it to `--out`. */
		async end(counts: Omit<PlanCounts, "changes">): Promise<void> {
			await append(text.footer(counts));
			await file.end();
		},
		[Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
	};
}
