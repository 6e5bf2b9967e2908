import type { App } from "../../app.ts";
import type { ExitCode } from "../../errors.ts";
import { declare, toggle } from "../../flags/declare.ts";
import type { Given, RunFlags } from "../../flags/flags.ts";
import { PARSE, STALL_TIME } from "../../flags/parse-flags.ts";
import { checkCanAsk, refused } from "../../flags/refuse.ts";
import { PURPOSES } from "../../manifest/purposes.ts";
import { ParsingStates } from "../../run/documents/parsing-states.ts";
import { parseDocuments } from "../../run/operations/parse.ts";
import { announced } from "../../run/ordered.ts";
import { requireCall } from "../../run/service/detect-flavour.ts";
import { openRun } from "../../workflows/open-run.ts";
import { effectOfParsing } from "../../workflows/effect.ts";
import { prescanRemovals, unchecked } from "../../workflows/policy/prescan.ts";
import { preview } from "../../workflows/preview/preview.ts";
import { askAbout } from "../../workflows/question.ts";
import { FILTERS } from "../../workflows/rows/document-filter.ts";
import { CHOSEN, type FoundFlags, givenRows } from "../../workflows/rows/found-rows.ts";
import { rowsToSend } from "../../workflows/run/earlier-runs.ts";
import { runRows } from "../../workflows/run/run-rows.ts";

type ParseOptions = FoundFlags & RunFlags & Given<{ stallTime: number }>;

export const parseCommand = declare({
	summary: "start the parsing of documents, and wait for it",
	description:
		"Starts the parsing of the documents that a manifest, --id or a filter names, or of all documents of a dataset. Those " +
		"that are done or at work are left as they are. Without --wait a row is parsed when its document is at work.",
	examples:
		"ragtag docs parse -d DATASET --wait\nragtag docs parse -d DATASET --only-failed --wait\nragtag docs parse ids.csv -d DATASET\nragtag docs parse -d DATASET --where category=news --again --dry-run",
	arguments: { "[manifest]": "CSV, JSON array or JSON lines; - reads standard input" },
	options: {
		...CHOSEN,
		...FILTERS,
		onlyFailed: toggle("--only-failed", "parses only those whose parsing failed"),
		again: toggle("--again", "parses those that are done as well: their chunks are made anew, and it asks first"),
		wait: toggle("--wait", "waits until each document is done, and exits 1 if one fails"),
		stallTime: PARSE.stallTime,
		yes: toggle("-y, --yes", "parses again without asking"),
	},
	rules: [["--only-failed", "excludes", "--again", "Failed documents are parsed without --again, too."]],
	run: parse,
	resume: (file, flags, app) => parse({ ...flags, manifest: file.manifest.path }, app),
});

/** Rows of a dry run whose states are read together. */
const AHEAD = 1000;

async function parse(options: ParseOptions, app: App): Promise<ExitCode> {
	const { manifest, id, onlyFailed = false, again = false, wait = false, yes = false, dryRun = false } = options;
	const { command } = PURPOSES.parse;
	if (options.resume === true && manifest === undefined && id === undefined) {
		throw refused(
			"--resume needs the same documents, and a list may show others by now",
			"Resume the run with the documents that it found: ragtag runs resume",
		);
	}
	checkCanAsk("docs parse --again", options, !again || (manifest !== "-" && app.io.stdinIsTerminal));
	await using run = await openRun(command, options, app);
	const { session } = run;
	// A manifest is checked before the first request.
	if (manifest === undefined) await requireCall(session, "parse", command);
	await using rows = await givenRows(run, { purpose: "parse" });
	await requireCall(session, "parse", command);
	const plan = { onlyFailed, again };
	const { service } = session;
	const states = new ParsingStates(service.clock);
	if (dryRun) {
		const read = () => announced(rows.read(), AHEAD, (next) => states.expect(next));
		return await preview(unchecked(run), { ...rows, read }, (row) => effectOfParsing(states, session, row, plan));
	}
	const allowed = await prescanRemovals(unchecked(run), rows);
	if (again && !yes && rows.rows > 0) {
		const lost = "Chunks are made anew: what was edited in them by hand is lost. This cannot be undone.";
		const open = await rowsToSend(run, rows);
		await askAbout(run, open, (counted, lines) => `Parse ${counted} again?\n${lines}${lost}`);
	}
	let hasSent = false;
	const following = {
		...plan,
		waits: wait,
		stallTime: options.stallTime ?? STALL_TIME,
		live: session.monitor.live,
		onStart: () => void (hasSent = true),
	};
	return await runRows(run, allowed, () => parseDocuments(service, states, following), { hasSent: () => hasSent });
}
