import { printVersionLine } from "../../workflows/report.ts";
import { numberText, rowsText } from "../../text/words.ts";
import { Exit } from "../../errors.ts";
import { noOutcomes } from "../../outcomes.ts";
import { PURPOSE_NAMES } from "../../manifest/purposes.ts";
import { exitOf } from "../../report/exit.ts";
import { countsText, summaryOf } from "../../report/summary.ts";
import { totalsOf } from "../../run/types.ts";
import { checkAndReport, manifestOptions, refusal } from "../../workflows/check/check-manifest.ts";
import { CHANGE } from "../../flags/change-flags.ts";
import { CHECK_OUTPUTS, MANIFEST, SET, VERBOSITY } from "../../flags/flags.ts";
import { choice, declare, Flag, toggle } from "../../flags/declare.ts";

const OPTIONS = {
	...MANIFEST,
	...SET,
	...CHANGE,
	...VERBOSITY,
	...CHECK_OUTPUTS,
	for: choice("--for <purpose>", PURPOSE_NAMES, "the command that the manifest is for"),
	filesRoot: new Flag<string>("--files-root <dir>", "upload: folder of the files (default: the manifest's folder)"),
	json: toggle("--json", "problems as JSON lines"),
};

export const checkCommand = declare({
	summary: "check a manifest without a service",
	description: "Checks a manifest as the command does that sends it. Sends nothing.",
	examples: "ragtag manifest check tags.csv -d DATASET\nragtag manifest check files.csv --for upload",
	arguments: { "<manifest>": "CSV, JSON array, JSON lines or .xlsx; - reads standard input" },
	options: OPTIONS,
	run: async (options, app) => {
		const { io, clock } = app;
		const { manifest, json = false } = options;
		if (json) await printVersionLine(app);
		const started = clock.now();
		const settings = await app.settings(options);
		const reading = await manifestOptions(options.for, options, settings);
		const checked = await checkAndReport({ flags: options, settings, app }, manifest, reading);
		await checked.close();
		const totals = totalsOf(checked, noOutcomes(), 0);
		const stop = refusal(checked, {}, options.for);
		// Nothing is sent, so the valid rows are pending, and that is success.
		const ended = { totals, seconds: (clock.now() - started) / 1000, stop: undefined };
		const exit = stop === undefined ? Exit.ok : exitOf({ ...ended, stop });
		const skipped = checked.duplicateSkipped;
		const duplicates = skipped > 0 ? `, ${numberText(skipped)} of them duplicates that are left out` : "";
		const good = `${rowsText(checked.rows)} (${checked.format})${duplicates}, no problems`;
		app.runEnd.report(stop?.text ?? good, ended);
		if (json) await io.out(`${JSON.stringify(summaryOf(ended, exit))}\n`);
		if (stop === undefined) {
			io.note(`${checked.name}: ${good}`);
			return exit;
		}
		if (checked.rows > 0 && !checked.fatal) io.err(countsText(totals).replace("pending", "without a problem"));
		io.err(`ragtag: ${stop.text.replace("; nothing was sent", "")}`);
		if (checked.rows === 0 && stop.hint !== undefined && checked.problems === 0)
			io.err("docs tag accepts it with --allow-empty.");
		return exit;
	},
});
