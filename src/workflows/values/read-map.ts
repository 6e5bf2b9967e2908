import { Exit } from "../../errors.ts";
import { DELETE_TOKEN } from "../../json/list-change.ts";
import { sameValue } from "../../json/values.ts";
import { valueFaults } from "../../manifest/rows/values.ts";
import type { PlanHeader } from "../../plan/plan-file/planned.ts";
import { ValueMap } from "../../plan/value-change.ts";
import type { Ended } from "../../report/summary.ts";
import type { RunFlags } from "../../flags/flags.ts";
import { show } from "../../text/show.ts";
import { checkAndReport, manifestOptions, problemReporter, refusal } from "../check/check-manifest.ts";
import type { Run } from "../open-run.ts";
import { endedBefore } from "../report.ts";

/** A map that was read, or the end of a command whose map has problems. */
type ReadMap =
	| { readonly stop: Ended }
	| { readonly stop: undefined; readonly map: ValueMap; readonly manifest: PlanHeader["manifest"] };

/**
 * Reads the table of `--map`. A row whose `new` is empty or equal to `old` changes nothing, and `!delete` removes the value.
 *
 * @throws CliError exit 2 where it can't be read
 */
export async function readMap(run: Run<RunFlags>, path: string, key: string): Promise<ReadMap> {
	const { flags, settings, app } = run;
	const options = await manifestOptions("map", { json: flags.json }, settings);
	const checked = await checkAndReport(run, path, { ...options, deleteToken: DELETE_TOKEN });
	try {
		const map = new ValueMap();
		const reporter = problemReporter(flags.json === true, app);
		let { problems } = checked;
		for await (const { metadata, line } of checked.read()) {
			const [from, to] = [metadata.get("old"), metadata.get("new")];
			if (from === undefined || to === undefined || sameValue(from, to)) continue;
			for (const { code, text } of valueFaults(new Map([[key, to]]), DELETE_TOKEN)) {
				problems += 1;
				await reporter.report({ file: path, line, column: 1, field: "new", code, text: `new: ${show(key)} ${text}` });
			}
			map.add(from, { to: to === DELETE_TOKEN ? undefined : to, line });
		}
		reporter.end();
		const stop = refusal({ ...checked, problems }, {}, "map");
		if (stop !== undefined) return { stop: endedBefore(checked, { ...stop, exit: Exit.manifest }) };
		const { rows, content } = checked;
		return { stop: undefined, map, manifest: { name: path, sha256: content.sha256, rows } };
	} finally {
		await checked.close();
	}
}
